package companion

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/version"
)

// finding is one thing that doctor has looked at.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to type
}

// What a finding can be.
const (
	fine  = "ok"
	note  = "note"  // for information: nothing needs fixing
	wrong = "wrong" // keeps runs, or their record, from working as they should
)

// doctorCommand is belay doctor. It changes nothing.
func doctorCommand(_ context.Context, from caller, args *arguments) (int, error) {
	list := examine(from)
	ill := 0
	for _, f := range list {
		if f.Status == wrong {
			ill++
		}
	}
	var err error
	if args.on("json") {
		err = term.JSONLines(from.Out, list)
	} else {
		err = writeFindings(from.Out, list, ill)
	}
	return min(ill, 1), err
}

// examine looks at everything, the slow things at the same time.
func examine(from caller) (list []finding) {
	checks := []func() []finding{
		func() []finding { return checkBelay(from) },
		checkConfig, checkState, checkRecord, checkLeftovers, checkGates, checkClock, checkDisk,
	}
	for _, d := range profile.All() {
		checks = append(checks, cli{d}.check)
	}
	found := make([][]finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { found[i] = check() })
	}
	all.Wait()
	for _, f := range found {
		list = append(list, f...)
	}
	return list
}

func writeFindings(w io.Writer, list []finding, ill int) error {
	marks := map[string]string{fine: "ok", note: "note", wrong: "WRONG"}
	var b strings.Builder
	for _, f := range list {
		term.Printf(&b, "%-6s %-10s %s\n", marks[f.Status], f.Check, oneLine(f.Text, 300))
		if f.Fix != "" {
			term.Printf(&b, "%17s → %s\n", "", f.Fix)
		}
	}
	switch ill {
	case 0:
		b.WriteString("nothing is wrong\n")
	case 1:
		b.WriteString("1 thing is wrong\n")
	default:
		fmt.Fprintf(&b, "%d things are wrong\n", ill)
	}
	return term.Text(w, b.String())
}

func one(check, status, fix, format string, args ...any) []finding {
	return []finding{{check, status, fmt.Sprintf(format, args...), fix}}
}

// checkBelay looks at the belay on the PATH. That belayd runs, and has this version, is known by now.
func checkBelay(from caller) []finding {
	self, _ := os.Executable()
	list := one("belay", fine, "", "%s, version %s, %s/%s", tilde(from.path), from.version, runtime.GOOS, runtime.GOARCH)
	list = append(list, one("belayd", fine, "", "%s, version %s", tilde(self), version.String())...)
	// Another belay that comes first on the PATH is what scripts get.
	if first, err := supervise.Look("belay", ""); err == nil && !sameFile(first, from.path) {
		list = append(list, one("PATH", note, "type -a belay", "%s comes first on the PATH and is another belay", tilde(first))...)
	}
	return list
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// checkGates lists the gates that keep runs from starting.
func checkGates() (list []finding) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil // said by checkState
	}
	entries, err := (&state.State{Dir: dir}).Gates().List()
	if err != nil {
		return one("gates", wrong, "", "cannot be read: %v", err)
	}
	now := time.Now()
	for _, e := range entries {
		if hold := e.State.Hold; hold.Live(now) {
			list = append(list, one("gates", wrong, term.LiftCommand(e.Key), "%s holds until %s: %s", e.Key,
				now.Add(hold.Left(now)).Format(time.DateTime), hold.Reason)...)
		} else if b := e.State.Breaker; b.Until.After(now) {
			list = append(list, one("gates", wrong, term.LiftCommand(e.Key), "the breaker of %s is open until %s: %s", e.Key,
				b.Until.Format(time.DateTime), b.Reason)...)
		} else if b.Forced && b.Until.IsZero() {
			list = append(list, one("gates", wrong, term.LiftCommand(e.Key), "the breaker of %s is open until it is reset: %s", e.Key, b.Reason)...)
		}
	}
	if len(list) == 0 {
		return one("gates", fine, "", "none keeps anybody waiting")
	}
	return list
}

// checkClock reports a clock that is behind the last entry of the log: a wrong clock makes holds, resets and the record
// wrong, and the log can be read without a network.
func checkClock() []finding {
	now := time.Now()
	zone := now.Format("MST, -07:00")
	if now.Year() < 2026 {
		return one("clock", wrong, clockFix(), "says %s, which has long passed", now.Format(time.DateTime))
	}
	if last := lastWritten(); last.Sub(now) > time.Minute {
		return one("clock", wrong, clockFix(), "says %s, but something was logged at %s: it was, or is, wrong", now.Format(time.DateTime),
			last.In(now.Location()).Format(time.DateTime))
	}
	return one("clock", fine, "", "%s (%s)", now.Format(time.DateTime), zone)
}

func clockFix() string {
	if runtime.GOOS == "linux" {
		return "timedatectl status"
	}
	return ""
}

// lastWritten is the time in the last line of the log, or of the file if that is later; zero if there is none.
func lastWritten() (last time.Time) {
	dir, err := state.DefaultDir()
	if err != nil {
		return last
	}
	f, err := (&state.State{Dir: dir}).OpenLog()
	if err != nil {
		return last
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return last
	}
	last = info.ModTime()
	buf := make([]byte, min(info.Size(), 8<<10))
	n, _ := f.ReadAt(buf, info.Size()-int64(len(buf)))
	for text := range strings.Lines(string(buf[:n])) {
		var e struct {
			Timestamp time.Time `json:"timestamp"`
		}
		if json.Unmarshal([]byte(text), &e) == nil && e.Timestamp.After(last) {
			last = e.Timestamp
		}
	}
	return last
}
