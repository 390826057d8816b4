//go:build linux

package agents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// Claude, one of whose tools grows by 50 MB a second in ever more processes, is ended with all of them. Its session continues once, and is told why; the second
// time the exit code is 75 and the largest processes are named.
func TestClaude_MaxMemory(t *testing.T) {
	t.Parallel()
	s := claude.New(t, "", "tool(bash: sh grow.sh)x*")
	must.OK(t, os.WriteFile(filepath.Join(s.Work, "grow.sh"), []byte("while :; do (head -c 5m /dev/zero; exec sleep 300) | tail & sleep 0.1; done\n"), 0o600))
	r := s.Belay([]string{"--max-memory", "400M", "--base-delay", "10ms"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
	r.Exits(75)
	r.Is("resources", 2)
	s.ToldOnce("say hi")
	s.ToldOnce("Go on in a way that needs less memory.")
	if !regexp.MustCompile(`claude used 4\d\d\.\d MB of memory \(limit 400\.0 MB\) and was terminated\. Largest: \d+ \(claude\) \d+\.\d MB, \d+ \(tail\) \d+\.\d MB, \d+ \(tail\) \d+\.\d MB\. Gave up after 2 attempts`).MatchString(r.Stderr) {
		t.Error(r.Stderr)
	}
	sessions := map[string]bool{}
	for _, e := range s.Log() {
		sessions[e.Session] = true
		if t.Logf("peak of the tree %d MB", e.PeakTree>>20); e.PeakTree < 400<<20 || e.PeakTree > 600<<20 || e.PeakMemory == 0 {
			t.Errorf("peak %d, of the tree %d", e.PeakMemory, e.PeakTree)
		}
	}
	if len(sessions) != 1 {
		t.Errorf("sessions %v", sessions)
	}
	s.NobodyLeft()
}
