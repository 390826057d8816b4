package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/rehearse"
)

// Expect is what is expected. What is not set is not asked.
type Expect struct {
	Exit     Number            `toml:"exit"`
	Class    Text              `toml:"class"`    // of the last run of belay run
	Attempts Number            `toml:"attempts"` // of all runs of belay run
	Requests Number            `toml:"requests"` // that are part of the work
	Waits    Number            `toml:"waits"`    // seconds between requests, in all
	Gap      Number            `toml:"gap"`      // seconds between two requests, the shortest
	Time     Number            `toml:"time"`     // seconds from the start to the last answer
	Tokens   Number            `toml:"tokens"`   // charged, in and out
	Cost     Number            `toml:"cost"`     // dollars, of what was charged
	Running  Number            `toml:"running"`  // processes that are left
	Stdout   Text              `toml:"stdout"`
	Stderr   Text              `toml:"stderr"`
	Files    map[string]Text   `toml:"files"`   // in the directory, at the end
	Effects  map[string]Number `toml:"effects"` // how often "POST /repos/o/r/issues" was carried out
	Issues   map[string]Number `toml:"issues"`  // that repositories of GitHub have at the end, by repository
}

// each hands over what is expected, in order, by its key and, in a map, the name.
func (e Expect) each(do func(path []string, want condition)) {
	fields := reflect.ValueOf(e)
	for i := range fields.NumField() {
		key, field := fields.Type().Field(i).Tag.Get("toml"), fields.Field(i)
		if field.Kind() != reflect.Map {
			do([]string{key}, field.Interface().(condition))
			continue
		}
		names := field.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			do([]string{key, name.String()}, field.MapIndex(name).Interface().(condition))
		}
	}
}

// Failure is an expectation that was not met.
type Failure struct {
	What string `json:"what"` // exit, requests, …
	Want string `json:"expected"`
	Got  string `json:"got"`

	path []string // of its key, in expect
	seen string   // the condition that would have been met, as TOML
}

func (f Failure) String() string {
	return fmt.Sprintf("%s: expected %s, got %s", f.What, f.Want, f.Got)
}

// Check holds what was seen against what is expected.
func (e Expect) Check(seen *Seen) (failures []Failure) {
	if seen.TimedOut && e.Exit.text == "" {
		failures = []Failure{{What: "timeout", Want: "an end by itself", Got: seen.say("exit", figures["exit"](seen))}}
	}
	e.each(func(path []string, want condition) {
		if value := seen.value(path); !want.holds(value) {
			failures = append(failures, Failure{strings.Join(path, " "), want.String(), seen.say(path[0], value), path, want.seen(value, isTime(path[0]))})
		}
	})
	return failures
}

// figures are the numbers that are not by name.
var figures = map[string]func(*Seen) float64{
	"exit": func(s *Seen) float64 { return float64(s.Exit) }, "requests": func(s *Seen) float64 { return float64(len(s.Requests)) },
	"attempts": (*Seen).attempts, "waits": (*Seen).waits, "gap": (*Seen).gap, "time": (*Seen).time, "tokens": (*Seen).tokens, "cost": (*Seen).cost,
	"running": func(s *Seen) float64 { return float64(len(s.Left)) },
}

func isTime(key string) bool { return key == "waits" || key == "gap" || key == "time" }

// value is what was seen of something that can be expected: a string or a number. It is nil for a file that is not there.
func (seen *Seen) value(path []string) any {
	switch path[0] {
	case "class":
		return seen.class()
	case "stdout":
		return seen.Stdout
	case "stderr":
		return seen.Stderr
	case "files":
		if text, there := seen.Files[path[1]]; there {
			return text
		}
		return nil
	case "effects":
		return seen.effects(path[1])
	case "issues":
		return float64(seen.Issues[path[1]])
	}
	return figures[path[0]](seen)
}

// say is a value as a report shows it.
func (seen *Seen) say(key string, value any) string {
	switch v := value.(type) {
	case string:
		return quoted(v)
	case float64:
		switch {
		case isTime(key):
			return time.Duration(v * float64(time.Second)).Round(10 * time.Millisecond).String()
		case key == "running":
			return fmt.Sprintf("%g: %s", v, strings.Join(seen.Left, ", "))
		case key == "exit" && seen.TimedOut:
			return fmt.Sprintf("%g: it was ended after %s", v, seen.Took.Round(10*time.Millisecond))
		}
		return fmt.Sprintf("%g", v)
	}
	return "no such file"
}

// quoted is the end of a text, on one line.
func quoted(text string) string {
	if runes := []rune(trimmed(text)); len(runes) > 200 {
		return fmt.Sprintf("%q", "…"+string(runes[len(runes)-200:]))
	}
	return fmt.Sprintf("%q", trimmed(text))
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
	for _, r := range seen.Requests[min(1, len(seen.Requests)):] {
		shortest = min(shortest, r.Gap)
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
func (seen *Seen) effects(name string) (n float64) {
	for _, r := range seen.Requests {
		if r.Method+" "+r.Path == name && (strings.HasPrefix(r.Step, "lost") || r.Status >= 200 && r.Status < 300) {
			n++
		}
	}
	return n
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
	switch n := len(seen.Requests); {
	case n > 0 && seen.Exit != 0 && seen.Requests[n-1].Status >= 429 && !strings.HasPrefix(seen.Requests[n-1].Step, "usage-limit"): // for which one may give up
		return "a robust client tries again after a limit or an error of the service"
	case len(seen.Left) > 0:
		return "a robust program ends what it has started"
	case seen.TimedOut:
		return "a robust client gives up on an answer that does not come, and tries again"
	}
	return ""
}
