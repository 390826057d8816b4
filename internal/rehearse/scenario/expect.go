package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/rehearse"
)

// Failure is an expectation that was not met.
type Failure struct {
	What string // exit, requests, …
	Want string
	Got  string
}

func (f Failure) String() string {
	return fmt.Sprintf("%s: expected %s, got %s", f.What, f.Want, f.Got)
}

// figures are the numbers that can be expected, in the order of a report.
var figures = []struct {
	name string
	want func(Expect) Number
	got  func(*Seen) float64
}{
	{"exit", func(e Expect) Number { return e.Exit }, func(s *Seen) float64 { return float64(s.Exit) }},
	{"attempts", func(e Expect) Number { return e.Attempts }, (*Seen).attempts},
	{"requests", func(e Expect) Number { return e.Requests }, func(s *Seen) float64 { return float64(len(s.Requests)) }},
	{"waits", func(e Expect) Number { return e.Waits }, (*Seen).waits},
	{"gap", func(e Expect) Number { return e.Gap }, (*Seen).gap},
	{"time", func(e Expect) Number { return e.Time }, (*Seen).time},
	{"tokens", func(e Expect) Number { return e.Tokens }, (*Seen).tokens},
	{"cost", func(e Expect) Number { return e.Cost }, (*Seen).cost},
	{"running", func(e Expect) Number { return e.Running }, func(s *Seen) float64 { return float64(len(s.Left)) }},
}

// Check holds what was seen against what is expected.
func (e Expect) Check(seen *Seen) (failures []Failure) {
	for _, f := range figures {
		if want, got := f.want(e), f.got(seen); !want.met(got) {
			failures = append(failures, Failure{f.name, want.text, seen.say(f.name, got)})
		}
	}
	text := func(what string, want Text, got string) {
		if want.met != nil && !want.met(got) {
			failures = append(failures, Failure{what, quoted(want.text), quoted(got)})
		}
	}
	text("class", e.Class, seen.class())
	text("stdout", e.Stdout, seen.Stdout)
	text("stderr", e.Stderr, seen.Stderr)
	for _, name := range slices.Sorted(maps.Keys(e.Files)) {
		got, there := seen.Files[name]
		if !there {
			failures = append(failures, Failure{"file " + name, quoted(e.Files[name].text), "no such file"})
			continue
		}
		text("file "+name, e.Files[name], got)
	}
	count := func(what string, wants map[string]Number, got func(name string) int) {
		for _, name := range slices.Sorted(maps.Keys(wants)) {
			if n := got(name); !wants[name].met(float64(n)) {
				failures = append(failures, Failure{what + " " + name, wants[name].text, fmt.Sprint(n)})
			}
		}
	}
	count("effects", e.Effects, seen.effects)
	count("issues", e.Issues, func(repo string) int { return seen.Issues[repo] })
	return failures
}

// say is a number as a report shows it.
func (seen *Seen) say(name string, got float64) string {
	switch name {
	case "waits", "gap", "time":
		return (time.Duration(got * float64(time.Second))).Round(10 * time.Millisecond).String()
	case "running":
		return fmt.Sprintf("%d: %s", len(seen.Left), strings.Join(seen.Left, ", "))
	case "exit":
		if seen.TimedOut {
			return fmt.Sprintf("%.0f: it was ended after %s", got, seen.Took.Round(10*time.Millisecond))
		}
	}
	return fmt.Sprintf("%g", got)
}

// quoted is the end of a text, on one line.
func quoted(text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if runes := []rune(text); len(runes) > 200 {
		text = "…" + string(runes[len(runes)-200:])
	}
	return fmt.Sprintf("%q", text)
}

// class is the last verdict of belay run; empty if it was not used.
func (seen *Seen) class() string {
	if len(seen.Runs) == 0 {
		return ""
	}
	if last := seen.Runs[len(seen.Runs)-1]; last.ErrorType != "" {
		return string(last.ErrorType)
	}
	return "ok"
}

func (seen *Seen) attempts() (n float64) {
	for _, e := range seen.Runs {
		if e.Attempt > 0 {
			n++
		}
	}
	return n
}

func (seen *Seen) waits() (sum float64) {
	for _, r := range seen.Requests {
		sum += r.Gap.Seconds()
	}
	return sum
}

// gap is the shortest time between two requests; that of the whole run where there are no two.
func (seen *Seen) gap() float64 {
	shortest := seen.Took
	for i, r := range seen.Requests {
		if i > 0 {
			shortest = min(shortest, r.Gap)
		}
	}
	return shortest.Seconds()
}

// time is that from the start to the end of the last answer.
func (seen *Seen) time() (last float64) {
	for _, r := range seen.Requests {
		last = max(last, (r.At.Sub(seen.Begun) + r.Took).Seconds())
	}
	return last
}

func (seen *Seen) tokens() (sum float64) {
	for _, r := range seen.Requests {
		sum += float64(r.Usage.Input + r.Usage.Output + r.Usage.CacheRead + r.Usage.CacheCreate)
	}
	return sum
}

// cost is what the requests cost by the list of prices; those to models that are not on it cost nothing.
func (seen *Seen) cost() (sum float64) {
	prices := price.New(nil)
	for _, r := range seen.Requests {
		u := r.Usage
		usd, _ := prices.Cost(r.Model, r.At, price.Call{Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheCreate)})
		sum += usd
	}
	return sum
}

// effects is how often a request was carried out, whatever the client was told.
func (seen *Seen) effects(name string) (n int) {
	for _, r := range seen.Requests {
		if r.Method+" "+r.Path == name && carriedOut(r) {
			n++
		}
	}
	return n
}

func carriedOut(r rehearse.Request) bool {
	return strings.HasPrefix(r.Step, "lost") || r.Status >= 200 && r.Status < 300
}

// Advice says what a robust client would have done, where the requests show that it did not; empty if they do not.
func (seen *Seen) Advice() string {
	for i, r := range seen.Requests {
		if r.Method != "GET" && slices.ContainsFunc(seen.Requests[:i], func(before rehearse.Request) bool {
			return strings.HasPrefix(before.Step, "lost") && r.Method == before.Method && r.Path == before.Path && r.Model == before.Model
		}) {
			return "after an answer that was lost, a robust client first checks whether the effect is there; belay run --verify-effect does that for gh"
		}
		if i == 0 {
			continue
		}
		before := seen.Requests[i-1]
		switch {
		case before.Status == 401 || before.Status == 403 && r.API != "github":
			return "a robust client does not repeat a request that was refused for its key"
		case before.RetryAfter > 0 && r.Gap < before.RetryAfter:
			return fmt.Sprintf("a robust client waits for as long as the service asks: %s here, not %s", before.RetryAfter.Round(10*time.Millisecond), r.Gap.Round(10*time.Millisecond))
		case before.Status >= 429 && r.Gap < 200*time.Millisecond:
			return "a robust client waits before it tries again, and longer each time"
		}
	}
	if n := len(seen.Requests); n > 0 && seen.Exit != 0 && seen.Requests[n-1].Status >= 429 {
		return "a robust client tries again after a limit or an error of the service"
	}
	if len(seen.Left) > 0 {
		return "a robust program ends what it has started"
	}
	if seen.TimedOut {
		return "a robust client gives up on an answer that does not come, and tries again"
	}
	return ""
}
