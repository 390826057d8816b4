//go:build linux

package upgrade_test

import (
	"bytes"
	"database/sql"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// killed are the runs whose belay was killed: those of the records that it left.
func killed(t *testing.T) (ids []string) {
	t.Helper()
	paths, _ := filepath.Glob("testdata/home/state/runs/*")
	for _, path := range paths {
		ids = append(ids, path[strings.LastIndex(path, ".")+1:])
	}
	if len(ids) != 4 {
		t.Fatalf("records of killed runs: %q", paths)
	}
	return ids
}

// The present version says of the home what 52c78ef has said of it, and of the part that 52c78ef had not folded too; more
// fields may have come, and the runs that were killed are on record. That part is folded once: the second time the answers
// are the same.
func TestRead(t *testing.T) {
	t.Parallel()
	s := home(t)
	for _, round := range []string{"first", "second"} {
		for _, name := range []string{"log", "attempts", "events", "sessions", "alerts", "audit"} {
			isKilled := func(o object) bool { return isKilled(t, o) }
			want := slices.DeleteFunc(answered(s, name), isKilled)
			got := slices.DeleteFunc(ask(s, questions[name]...), isKilled)
			if len(got) != len(want) {
				t.Errorf("%s, the %s time: %d answers, want %d", name, round, len(got), len(want))
				continue
			}
			for i := range want {
				holds(t, name, want[i], got[i])
			}
		}
		stats(s)
		foldedOnce(s)
	}
}

// answered is what 52c78ef has answered.
func answered(s *stage.Stage, name string) []object {
	s.T.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/answers", name+".jsonl"))
	must.OK(s.T, err)
	return lines(s.T, strings.ReplaceAll(string(text), placeDir, s.Dir))
}

// neverWaited is a wait in milliseconds during which a run was killed. 52c78ef counted waits when they began.
const neverWaited = 60000.0

// stats checks the figures: by class nothing has changed but that some runs were interrupted, and all others are the sum.
func stats(s *stage.Stage) {
	s.T.Helper()
	groups := func(answer object) map[any]any {
		by := map[any]any{}
		for _, g := range answer["groups"].([]any) {
			by[g.(object)["key"]] = g
		}
		return by
	}
	want, got := groups(answered(s, "class")[0]), groups(ask(s, questions["class"]...)[0])
	for key := range want {
		holds(s.T, "stats."+key.(string), want[key], got[key])
	}
	found, _ := got["interrupted"].(object)
	if len(got) != len(want)+1 || found["invocations"] != 4.0 || found["attempts"] != 3.0 || found["refused"] != 1.0 {
		s.T.Errorf("stats by class: %v", got)
	}
	found["wait_ms"] = -neverWaited
	for _, by := range []string{"day", "profile", "model", "class"} {
		before, now := answered(s, by)[0]["total"].(object), ask(s, questions[by]...)[0]["total"].(object)
		for _, key := range []string{"invocations", "succeeded", "refused", "attempts", "requests", "faults", "wait_ms"} {
			if sum := before[key].(float64) + found[key].(float64); sum != now[key] {
				s.T.Errorf("stats by %s: %s is %v, want %v", by, key, now[key], sum)
			}
		}
		holds(s.T, "stats by "+by+".usage", before["usage"], now["usage"])
	}
}

// foldedOnce checks that the database has taken each line of the log once.
func foldedOnce(s *stage.Stage) {
	s.T.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.State, "observability.sqlite"))
	must.OK(s.T, err)
	defer db.Close()
	log, err := os.ReadFile(filepath.Join(s.State, "log.jsonl"))
	must.OK(s.T, err)
	var files, lines, torn, position int
	must.OK(s.T, db.QueryRow("SELECT count(*), sum(lines), sum(torn), sum(position) FROM logs").Scan(&files, &lines, &torn, &position))
	if files != 1 || lines != bytes.Count(log, []byte("\n")) || torn != 0 || position != len(log) {
		s.T.Errorf("%d logs, %d lines (%d torn), %d bytes are folded; the log has %d lines, %d bytes", files, lines, torn, position, bytes.Count(log, []byte("\n")), len(log))
	}
}

// isKilled says that an answer is about a run that was killed.
func isKilled(t *testing.T, o object) bool {
	for _, key := range []string{"id", "invocation"} {
		if id, ok := o[key].(string); ok && slices.Contains(killed(t), id) {
			return true
		}
	}
	return false
}

// changed are answers that have become others on purpose.
var changed = map[string]func(want, got any) bool{
	// A plain command fails under its own name, not under that of all plain commands.
	"events.metadata.integration": func(want, got any) bool { return want == "generic" && got == "sh" },
	"audit.subject":               func(want, got any) bool { return want == "generic" && got == "sh" },
	// An alert is delivered only if it was raised after the settings file was written, which is new in the copy.
	"alerts.delivered": func(_, got any) bool { return got == nil },
	"alerts.tries":     func(_, got any) bool { return got == 0.0 },
	// How long a run has waited that was killed while it did is not known.
	"stats.unknown.wait_ms": func(want, got any) bool { return want.(float64)-neverWaited == got },
}

// holds checks that an answer has all that it had.
func holds(t *testing.T, where string, want, got any) {
	t.Helper()
	if w, ok := want.(object); ok {
		if g, ok := got.(object); ok {
			for key, value := range w {
				holds(t, where+"."+key, value, g[key])
			}
			return
		}
	}
	if w, ok := want.(float64); ok {
		if g, ok := got.(float64); ok && math.Abs(g-w) < 1e-9 {
			return
		}
	}
	if other := changed[where]; !reflect.DeepEqual(want, got) && (other == nil || !other(want, got)) {
		t.Errorf("%s: %v, want %v", where, got, want)
	}
}
