package journal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

func entry(id string) journal.Entry {
	return journal.Entry{Timestamp: journal.Time{Time: time.Date(2026, 11, 15, 12, 0, 0, 5e6, time.UTC)},
		Invocation: id, Profile: "generic", Command: "tool", Attempt: 1, Status: journal.Success}
}

func read(t testing.TB, path string) (list []journal.Entry, torn int) {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	for e := range journal.Read(f, &torn) {
		list = append(list, e)
	}
	return list, torn
}

func TestLog_KeepsWhatSeed000AsksFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	e := entry("one")
	e.Status, e.ErrorType, e.WaitTime, e.ResponseTime, e.PromptHash = journal.Retry, verdict.RateLimit, 2.5, 0.25, "abc"
	must.OK(t, (&journal.Log{Path: path}).Append(e))
	data, err := os.ReadFile(path)
	must.OK(t, err)
	var line map[string]any
	must.OK(t, json.Unmarshal(data, &line))
	for key, want := range map[string]any{"timestamp": "2026-11-15T12:00:00.005Z", "prompt_hash": "abc", "attempt": 1.0,
		"status": "retry", "error_type": "rate_limit", "wait_time": 2.5, "response_time": 0.25} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestLog_LinesStayBelow4K(t *testing.T) {
	for name, long := range map[string]string{
		"Text":        strings.Repeat("x", 20_000),
		"Control":     strings.Repeat("\x01", 10_000),
		"Multibyte":   strings.Repeat("€", 10_000),
		"InvalidUTF8": strings.Repeat("\xff", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			e := entry("long")
			e.Error, e.Rule, e.Session, e.Gate, e.Command = long, long, long, long, long
			e.Name, e.Tags, e.Project = long, map[string]string{"k": long, long: "v"}, long
			e.Usage = json.RawMessage(`"` + strings.Repeat("y", 10_000) + `"`)
			must.OK(t, (&journal.Log{Path: path}).Append(e))
			data, _ := os.ReadFile(path)
			if len(data) >= 4096 {
				t.Errorf("line of %d bytes", len(data))
			}
			if list, torn := read(t, path); len(list) != 1 || torn != 0 || list[0].Invocation != "long" {
				t.Errorf("read back %+v, %d torn", list, torn)
			}
		})
	}
}

func TestLog_ManyWritersLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			log := journal.Log{Path: path}
			for i := range 50 {
				if err := log.Append(entry(fmt.Sprintf("%d-%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if list, torn := read(t, path); len(list) != 800 || torn != 0 {
		t.Errorf("%d entries, %d torn", len(list), torn)
	}
}

func TestLog_SaysOnceThatItIsLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	f, err := os.Create(path)
	must.OK(t, err)
	if err := f.Truncate(100<<20 - 10); err != nil { // sparse
		t.Fatal(err)
	}
	f.Close()
	said := 0
	log := journal.Log{Path: path, OnLarge: func(string) { said++ }}
	for range 3 {
		must.OK(t, log.Append(entry("x")))
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
}

func TestRead_SkipsAndCountsTornLines(t *testing.T) {
	whole := func(id string) string {
		data, _ := json.Marshal(entry(id))
		return string(data)
	}
	tests := map[string]struct {
		text string
		ids  string
		torn int
	}{
		"whole":                              {whole("a") + "\n" + whole("b") + "\n", "a b", 0},
		"torn tail":                          {whole("a") + "\n" + whole("b")[:40], "a", 1},
		"torn tail that another wrote after": {whole("a")[:40] + whole("b") + "\n" + whole("c") + "\n", "b c", 1},
		"last line without an end":           {whole("a") + "\n" + whole("b"), "a b", 0},
		"garbage":                            {"\x00\x00\n{}\n[1]\nnull\n" + whole("a") + "\n", "a", 4},
		"empty lines":                        {"\n\n" + whole("a") + "\n\n", "a", 0},
		"a line longer than any entry":       {strings.Repeat("z", 1<<20) + "\n" + whole("a") + "\n", "a", 1},
		"nothing":                            {"", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var ids []string
			torn := 0
			for e := range journal.Read(strings.NewReader(tt.text), &torn) {
				ids = append(ids, e.Invocation)
			}
			if got := strings.Join(ids, " "); got != tt.ids || torn != tt.torn {
				t.Errorf("read %q and counted %d, want %q and %d", got, torn, tt.ids, tt.torn)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	data, _ := json.Marshal(entry("a"))
	f.Add(append(data, '\n'))
	f.Add(data[:30])
	f.Add(append(append([]byte{}, data[:30]...), data...))
	f.Fuzz(func(t *testing.T, data []byte) {
		torn, n := 0, 0
		for e := range journal.Read(strings.NewReader(string(data)), &torn) {
			if e.Invocation == "" {
				t.Error("an entry without an id")
			}
			n++
		}
		if lines := strings.Count(string(data), "\n") + 1; n > lines || torn > lines {
			t.Errorf("%d entries and %d torn in %d lines", n, torn, lines)
		}
	})
}

// The log is written by hand; encoding/json says what it must look like.
func TestLog_IsWhatEncodingJSONWrites(t *testing.T) {
	full := journal.Entry{Timestamp: entry("").Timestamp, Invocation: "id", Profile: "p", Command: "c \"<&>\\ é", PromptHash: "h",
		Attempt: 2, Status: journal.Error, ErrorType: verdict.Auth, Error: "tab\tnewline\nend", Rule: "r", ExitCode: 3, Signal: "SIGKILL",
		WaitTime: 1.5, InnerWait: 0.5, GateWait: -0.75, ResponseTime: 0.25, RetryAt: entry("").Timestamp, Session: "s", Usage: json.RawMessage(`{"a":1}`), Gate: "g",
		CPUTime: 0.125, Left: 1, Killed: 2, PeakMemory: 4 << 20, PeakTree: 5 << 30, Requests: 3, BelayCode: new(0), FirstToken: 0.5, InnerRetries: 2,
		Tools: []journal.Tool{{Name: "<b>", Count: 1, Time: 0.25}}, ToolCalls: []journal.ToolCall{{Name: "<b>", Start: 1.5, Time: 0.25}},
		ToolsCut: 3, Parent: "p", Traceparent: "t", Telemetry: new(true),
		Name: "n <b>", Tags: map[string]string{"team": "web & é", "env": "ci"}, Project: "/home/me/app", Kind: journal.MCP, Event: "crash", Detail: json.RawMessage(`{"a":1}`)}
	for name, e := range map[string]journal.Entry{"full": full, "empty": {}, "plain": entry("x")} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			must.OK(t, (&journal.Log{Path: path}).Append(e))
			got, _ := os.ReadFile(path)
			want, err := json.Marshal(e)
			if err != nil || string(got) != string(want)+"\n" {
				t.Errorf("got  %s\nwant %s (%v)", got, want, err)
			}
		})
	}
}

// A line of the log that seed 000 describes has all of its keys; it is read as any other.
func TestLog_Nulls(t *testing.T) {
	log := journal.Log{Path: filepath.Join(t.TempDir(), "own.jsonl"), Nulls: true}
	failed := entry("b")
	failed.Status, failed.ErrorType, failed.WaitTime, failed.PromptHash = journal.Retry, verdict.RateLimit, 2, "ab"
	for _, e := range []journal.Entry{entry("a"), failed} {
		must.OK(t, log.Append(e))
	}
	data, err := os.ReadFile(log.Path)
	must.OK(t, err)
	for i, want := range []string{`"prompt_hash":null "error_type":null "wait_time":null`, `"prompt_hash":"ab" "error_type":"rate_limit" "wait_time":2`} {
		line := strings.SplitAfter(string(data), "\n")[i]
		for _, key := range strings.Fields(want) {
			if !strings.Contains(line, key) {
				t.Errorf("%s is not in %s", key, line)
			}
		}
	}
	var read []verdict.Class
	for e := range journal.Read(bytes.NewReader(data), nil) {
		read = append(read, e.ErrorType)
	}
	if !slices.Equal(read, []verdict.Class{"", verdict.RateLimit}) {
		t.Errorf("%q", read)
	}
}
