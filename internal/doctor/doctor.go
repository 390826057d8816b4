// Package doctor checks the setup: settings, state directory, gates, clock, disk and the CLIs. belay runs it by itself, so that it
// also works where belayd is missing; only the database is left to belayd.
package doctor

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// Finding is one thing that was looked at.
type Finding struct {
	Check  string `json:"check"`
	Status string `json:"status"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // what to type
}

// What a finding can be.
const (
	Fine  = "ok"
	Note  = "note"  // for information: nothing needs fixing
	Wrong = "wrong" // keeps runs, or their record, from working as they should
)

// One returns a single finding.
func One(check, status, fix, text string) []Finding { return []Finding{{check, status, text, fix}} }

// Examine checks everything that belay can check by itself, in the order in which it is shown. first and record are the checks
// of the executables and of the database, which the caller has.
func Examine(first, record func() []Finding) (list []Finding) {
	checks := []func() []Finding{first, checkConfig, checkState, checkLog, record, checkLeftovers, checkGates, checkClock, checkDisk, checkShims}
	config.ReadUser() // it may declare CLIs; what is wrong with it is for checkConfig to say
	for _, d := range profile.Known() {
		checks = append(checks, cli{d}.check)
	}
	found := make([][]Finding, len(checks))
	var all sync.WaitGroup
	for i, check := range checks {
		all.Go(func() { found[i] = check() }) // some are slow
	}
	all.Wait()
	for _, f := range found {
		list = append(list, f...)
	}
	return list
}

// Write prints findings for people, and how many things are wrong.
func Write(w io.Writer, list []Finding) error {
	marks := map[string]string{Fine: "ok", Note: "note", Wrong: "WRONG"}
	var b strings.Builder
	for _, f := range list {
		term.Printf(&b, "%-6s %-10s %s\n", marks[f.Status], f.Check, atMost(f.Text, 300))
		if f.Fix != "" {
			term.Printf(&b, "%17s → %s\n", "", f.Fix)
		}
	}
	if Ill(list) == 0 {
		return term.Text(w, b.String()+"no problems found\n")
	}
	return term.Text(w, b.String()+message.Count(Ill(list), "problem")+" found\n")
}

// Ill counts what is wrong.
func Ill(list []Finding) (n int) {
	for _, f := range list {
		if f.Status == Wrong {
			n++
		}
	}
	return n
}

// atMost cuts a text that is too long to be read.
func atMost(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// checkGates lists the gates that keep runs from starting.
func checkGates() (list []Finding) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil // said by checkState
	}
	entries, err := (&state.State{Dir: dir}).Gates().List()
	if err != nil {
		return One("gates", Wrong, "", fmt.Sprintf("cannot be read: %v", err))
	}
	now := time.Now()
	for _, e := range entries {
		if hold := e.State.Hold; hold.Live(now) {
			list = append(list, One("gates", Wrong, term.LiftCommand(e.Key), fmt.Sprintf("%s is on hold until %s: %s", e.Key, now.Add(hold.Left(now)).Format(time.DateTime), hold.Reason))...)
		} else if b := e.State.Breaker; b.Until.After(now) || b.Forced && b.Until.IsZero() {
			when := "it is reset"
			if !b.Until.IsZero() {
				when = b.Until.Format(time.DateTime)
			}
			list = append(list, One("gates", Wrong, term.LiftCommand(e.Key), fmt.Sprintf("the breaker of %s is open until %s: %s", e.Key, when, b.Reason))...)
		}
	}
	if len(list) == 0 {
		return One("gates", Fine, "", message.GatesHealthy())
	}
	return list
}

// checkClock reports a clock that is behind the last entry of the log: a wrong clock makes holds, resets and the record
// Wrong, and the log can be read without a network.
func checkClock() []Finding {
	now := time.Now()
	if now.Year() < 2026 {
		return One("clock", Wrong, clockFix(), fmt.Sprintf("set to %s, which is years behind", now.Format(time.DateTime)))
	}
	dir, _ := state.DefaultDir() // without one there is no log
	if last := (&state.State{Dir: dir}).LastWritten(); last.Sub(now) > time.Minute {
		return One("clock", Wrong, clockFix(), fmt.Sprintf("set to %s, but the newest entry of the log is %s later", now.Format(time.DateTime), term.Span(last.Sub(now))))
	}
	return One("clock", Fine, "", fmt.Sprintf("%s (%s)", now.Format(time.DateTime), now.Format("MST, -0700")))
}

func clockFix() string {
	if runtime.GOOS == "linux" {
		return "timedatectl status"
	}
	return ""
}
