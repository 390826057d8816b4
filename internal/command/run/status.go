package run

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// status is what is shown of an agent while it works: how long it takes, what it does, and what it has used. The zero value is not ready,
// see newStatus.
type status struct {
	name  string
	begun time.Time

	mu       sync.Mutex
	told     bool      // it has told what it does
	shown    time.Time // when a line told last what it has begun
	now      engine.Activity
	argument *string // of now, once it was looked at
}

func newStatus(name string) *status { return &status{name: name, begun: time.Now()} }

// follow implements engine.Runner.Follow.
func (s *status) follow(a engine.Activity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told, s.now, s.argument = true, a, nil
	if a.Begun {
		s.shown = time.Now()
	}
}

// restart says that an attempt has ended, so that what it did is not shown of the next one. What was used so far stays.
func (s *status) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told, s.now, s.argument = false, engine.Activity{Used: s.now.Used, Filled: s.now.Filled}, nil
}

// rename says that another agent works now.
func (s *status) rename(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = name
}

// minDoing is how many columns are left for what an agent does before other parts of the line give way.
const minDoing = 16

// inPlace is the line on a terminal: claude 1:24 · Bash npm test · 12k in, 3k out · $0.12 · five_hour 84% used, resets 14:00. What does not fit of
// what the agent does is cut, and if there is next to no room for that, tokens, limit and cost give way.
func (s *status) inPlace(columns int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, short := s.limit()
	separator, mark := " · ", "…"
	if !term.UTF8() {
		separator, mark = " | ", "..."
	}
	doing := printable.Line(s.doing(true))
	head, tokens, cost := s.name+" "+term.Elapsed(time.Since(s.begun)), tokensText(s.now.Used), costText(s.now.Used)
	var parts []string
	for _, rest := range [][]string{{tokens, cost, limit}, {cost, limit}, {cost, short}, {cost}, {}} {
		parts = told(append([]string{head}, rest...))
		room := columns - printable.Width(strings.Join(parts, separator)+separator)
		if room >= min(minDoing, printable.Width(doing)) || len(rest) == 0 {
			parts = slices.Insert(parts, 1, printable.CutEnd(doing, max(room, 0), mark))
			break
		}
	}
	return strings.Join(told(parts), separator)
}

// plain is the line where there is no terminal to redraw one on, which may be kept: it has no argument of a tool. It is empty if
// another line has just told what the agent does.
func (s *status) plain() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.shown) < term.Beat {
		return ""
	}
	limit, _ := s.limit()
	parts := []string{s.doing(false), "", costText(s.now.Used), limit}
	if n := s.now.Used.InputTokens + s.now.Used.OutputTokens; n > 0 {
		parts[1] = countText(n) + " tokens"
	}
	return message.StillDoing(s.name, time.Since(s.begun), told(parts))
}

// told are the parts that are not empty.
func told(parts []string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

// limit says how full the fullest window of the account is, with the forecast if that is worse, and the same in fewer words. Both are empty if that
// is not known, or not more than half.
func (s *status) limit() (text, short string) {
	w, now := s.now.Filled, time.Now()
	if w == nil || w.Used <= 0.5 || !w.Known(now) {
		return "", ""
	}
	l := overview.NewLimit("", w, now)
	if short = l.Short(now); l.Forecast == nil || l.Forecast.Full == nil {
		return short, short
	}
	return l.Words(now), short
}

// doing says in a few words what the agent does.
func (s *status) doing(withArgument bool) string {
	a := &s.now
	switch {
	case !s.told:
		return "working"
	case a.Retrying:
		if left := time.Until(a.Until); left > 0 {
			return "retrying in " + term.Span((left + time.Second - 1).Truncate(time.Second))
		}
		return "retrying"
	case a.Delivered:
		return "finishing"
	case a.Waiting:
		return "waiting for input"
	case a.Doing == agent.UsingTool:
		if !withArgument {
			return a.Tool
		}
		if s.argument == nil {
			text := a.Argument()
			s.argument = &text
		}
		return strings.TrimSpace(a.Tool + " " + *s.argument)
	case a.Doing == agent.Writing:
		return "writing"
	}
	return "thinking"
}

// maxStep is the most columns of a line that tells what an agent has begun to do.
const maxStep = 160

// step is the line that tells what an agent has begun to do, or what it has said before that: codex: exec npm test.
func (s *status) step(a engine.Activity) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return printable.CutEnd(printable.Line(s.name+": "+strings.TrimSpace(a.Tool+" "+a.Argument())), maxStep, "...")
}

// tokensText shows tokens as 12k in, 3k out; empty if none are known.
func tokensText(u verdict.Usage) string {
	if u.InputTokens <= 0 && u.OutputTokens <= 0 {
		return ""
	}
	return countText(u.InputTokens) + " in, " + countText(u.OutputTokens) + " out"
}

// countText shows a number in at most four characters: 950, 1.2k, 12k, 3.4M.
func countText(n int64) string {
	switch {
	case n < 0:
		return "0"
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_500:
		return shortened(float64(n)/1e3) + "k"
	case n < 999_500_000:
		return shortened(float64(n)/1e6) + "M"
	}
	return shortened(float64(n)/1e9) + "G"
}

func shortened(x float64) string {
	if x < 9.95 {
		return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// costText shows a cost as $0.12, and ~$0.12 if it is an estimate; empty if it is not known.
func costText(u verdict.Usage) string {
	if u.CostUSD == nil {
		return ""
	}
	cost, about := *u.CostUSD, ""
	if u.Estimated {
		about = "~"
	}
	switch {
	case math.IsNaN(cost), cost < 0, cost > 1e9:
		return ""
	case cost > 0 && cost < 0.005:
		return "<$0.01"
	}
	return about + fmt.Sprintf("$%.2f", cost)
}
