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
	values := seen.values()
	if seen.TimedOut && e.Exit.text == "" {
		failures = []Failure{{What: "timeout", Want: "an end by itself", Got: seen.say("exit", values["exit"])}}
	}
	e.each(func(path []string, want condition) {
		key, what := path[0], strings.Join(path, " ")
		value, there := values[what]
		if !there && key != "files" {
			value = 0.0
		}
		if !want.holds(value) {
			failures = append(failures, Failure{what, want.String(), seen.say(key, value), path, want.seen(value, isTime(key))})
		}
	})
	return failures
}

func isTime(key string) bool { return key == "waits" || key == "gap" || key == "time" }

// values are what was seen, by key, or by key and name: strings, and numbers. Neither files that are not there nor numbers by name that are 0 are among them.
func (seen *Seen) values() map[string]any {
	values := map[string]any{"class": seen.class(), "stdout": seen.Stdout, "stderr": seen.Stderr}
	for name, text := range seen.Files {
		values["files "+name] = text
	}
	for name, n := range seen.figures() {
		values[name] = n
	}
	return values
}

// class is the last verdict of belay run; empty if it was not used.
func (seen *Seen) class() string {
	if len(seen.Runs) == 0 {
		return ""
	}
	return classOf(seen.Runs[len(seen.Runs)-1])
}

// figures are the numbers of those.
func (seen *Seen) figures() map[string]float64 {
	f := map[string]float64{"exit": float64(seen.Exit), "attempts": 0, "requests": float64(len(seen.Requests)), "waits": 0,
		"gap": seen.Took.Seconds(), "time": 0, "tokens": 0, "cost": 0, "running": float64(len(seen.Left))}
	for _, i := range seen.Issues {
		f["issues "+i.Repository]++
	}
	for _, e := range seen.Runs {
		if e.Attempt > 0 {
			f["attempts"]++
		}
	}
	prices := price.New(nil) // a model that is not on the list costs nothing
	for i, r := range seen.Requests {
		used := r.Usage
		call := price.Call{Input: int64(used.Input), Output: int64(used.Output), CacheRead: int64(used.CacheRead), CacheWrite: int64(used.CacheCreate)}
		usd, _ := prices.Cost(r.Model, r.At, call)
		f["cost"] += usd
		f["tokens"] += float64(used.Input + used.Output + used.CacheRead + used.CacheCreate)
		f["waits"] += r.Gap.Seconds()
		f["time"] = max(f["time"], (r.At.Sub(seen.Begun) + r.Took).Seconds())
		if i > 0 {
			f["gap"] = min(f["gap"], r.Gap.Seconds())
		}
		// It was carried out, whatever the client was told.
		if strings.HasPrefix(r.Step, "lost") || r.Status >= 200 && r.Status < 300 {
			f[fmt.Sprintf("effects %s %s", r.Method, r.Path)]++
		}
	}
	return f
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

// Advice says what a robust client would have done, where the requests show that it did not; empty if they do not.
func (seen *Seen) Advice() string {
	for i, r := range seen.Requests[min(1, len(seen.Requests)):] {
		before := seen.Requests[i]
		switch {
		case r.Method != "GET" && slices.ContainsFunc(seen.Requests[:i+1], func(b rehearse.Request) bool {
			return strings.HasPrefix(b.Step, "lost") && r.Method == b.Method && r.Path == b.Path && r.Model == b.Model
		}):
			return "after an answer that was lost, a robust client first checks whether the effect is there; belay run --verify-effect does that for gh"
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
