//go:build linux

package upgrade_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// goneBoot names a system that has been restarted since.
const goneBoot = "00000000-4026531836"

// settle puts the home of testdata onto a stage: the state directory, the user's settings, and the agents' sessions.
func settle(s *stage.Stage) {
	t := s.T
	t.Helper()
	replace := strings.NewReplacer(placeDir, s.Dir)
	names := strings.NewReplacer(placeName, folderName(s.Work), placeBoot, thisBoot(t))
	const from = "testdata/home"
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(rel, "state/runs/") && strings.Contains(string(data), `"sleep"`) {
			rel = strings.Replace(rel, placeBoot, goneBoot, 1)
		}
		text := string(data)
		if !strings.HasSuffix(rel, ".sqlite") {
			text = replace.Replace(text)
		}
		if rel == "state/gates/registry.json" {
			text = again(t, text)
		}
		name := filepath.Join(s.Dir, names.Replace(unstored(rel)))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		return os.WriteFile(name, []byte(text), 0o600)
	})
	must.OK(t, err)
	moved(t, filepath.Join(s.State, "observability.sqlite"), placeDir, s.Dir)
	times, err := os.ReadFile("testdata/times.txt")
	must.OK(t, err)
	for line := range strings.Lines(string(times)) {
		at, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		when, err := time.Parse(time.RFC3339Nano, at)
		must.OK(t, err)
		path := filepath.Join(s.Dir, names.Replace(name))
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(s.Dir, strings.Replace(name, placeBoot, goneBoot, 1))
		}
		must.OK(t, os.Chtimes(path, when, when))
	}
}

// again makes a breaker open as of now that was open for a minute when the home was made, and for five times as long.
func again(t *testing.T, text string) string {
	t.Helper()
	var since time.Time
	return regexp.MustCompile(`"20[0-9T:.-]*Z"`).ReplaceAllStringFunc(text, func(quoted string) string {
		var at time.Time
		must.OK(t, json.Unmarshal([]byte(quoted), &at))
		if since.IsZero() {
			since = at
		}
		moved, _ := json.Marshal(time.Now().Add(5 * at.Sub(since)).UTC())
		return string(moved)
	})
}

// thisBoot is how 52c78ef names the system as it runs now.
func thisBoot(t *testing.T) string {
	t.Helper()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	must.OK(t, err)
	space, err := os.Readlink("/proc/self/ns/pid")
	must.OK(t, err)
	return string(boot[:8]) + "-" + strings.Trim(space, "pid:[]")
}

// home is a stage with the home, without an agent.
func home(t *testing.T) *stage.Stage {
	t.Helper()
	s := stage.New(t, "200")
	settle(s)
	return s
}

// object is an answer in JSON.
type object = map[string]any

// lines reads answers, one a line.
func lines(t *testing.T, text string) (list []object) {
	t.Helper()
	for line := range strings.Lines(text) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v in %.300s", err, line)
		}
		list = append(list, o)
	}
	return list
}

// ask runs a command that must succeed, and returns its answers.
func ask(s *stage.Stage, args ...string) []object {
	s.T.Helper()
	r := s.Run("belay", args...)
	r.Exits(0)
	return lines(s.T, r.Stdout)
}
