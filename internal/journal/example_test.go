package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// Two attempts of one run, written as many processes may at the same time, and read again.
func Example() {
	dir, err := os.MkdirTemp("", "journal-*")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log := journal.Log{Path: filepath.Join(dir, "log.jsonl")}
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	log.Append(journal.Entry{Timestamp: journal.Time{Time: at}, Invocation: "run-1", Profile: "claude", Command: "claude", Attempt: 1,
		Status: journal.Retry, ErrorType: verdict.Overloaded, Error: "529 with the key " + "sk-ant-api03-abcdefghijklmnop", WaitTime: 2})
	log.Append(journal.Entry{Timestamp: journal.Time{Time: at.Add(3 * time.Second)}, Invocation: "run-1", Profile: "claude", Command: "claude",
		Attempt: 2, Status: journal.Success})

	file, err := os.Open(log.Path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	torn := 0
	for e := range journal.Read(file, &torn) {
		fmt.Printf("attempt %d: %s, %q\n", e.Attempt, e.Status, e.Error)
	}
	fmt.Println("torn:", torn)
	// Output:
	// attempt 1: retry, "529 with the key [redacted]"
	// attempt 2: success, ""
	// torn: 0
}
