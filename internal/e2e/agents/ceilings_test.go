//go:build linux

package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// An agent, one of whose tools grows by 50 MB a second in ever more processes, is ended with all of them. Its session continues once, and is told why; the second
// time the exit code is 75 and the largest processes are named. Every day codex shows it, which is small itself.
func TestMaxMemory(t *testing.T) {
	t.Parallel()
	for _, a := range []*agent{claude, codex} {
		limit := 400
		if a == codex {
			limit = 200
		} else if !full {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			s := a.New(t, "", "tool(bash: sh grow.sh)x*")
			must.OK(t, os.WriteFile(filepath.Join(s.Work, "grow.sh"), []byte("while :; do (head -c 5m /dev/zero; exec sleep 300) | tail & sleep 0.1; done\n"), 0o600))
			r := s.Belay([]string{"--max-memory", fmt.Sprint(limit, "M"), "--base-delay", "10ms"}, a.work("say hi"))
			r.Exits(75)
			r.Is("resources", 2)
			s.ToldOnce("say hi")
			s.ToldOnce("Go on in a way that needs less memory.")
			said := fmt.Sprintf(`%s used %d\d\d\.\d MB of memory \(limit %d\.0 MB\) and was terminated\. Largest: \d+ \(%[1]s\) \d+\.\d MB, \d+ \(tail\) \d+\.\d MB, \d+ \(tail\) \d+\.\d MB\. Gave up after 2 attempts`,
				a.Name, limit/100, limit)
			if !regexp.MustCompile(said).MatchString(r.Stderr) {
				t.Error(r.Stderr)
			}
			sessions := map[string]bool{}
			for _, e := range s.Log() {
				sessions[e.Session] = true
				if t.Logf("peak of the tree %d MB", e.PeakTree>>20); e.PeakTree < limit<<20 || e.PeakTree > (limit+200)<<20 || e.PeakMemory == 0 {
					t.Errorf("peak %d, of the tree %d", e.PeakMemory, e.PeakTree)
				}
			}
			if len(sessions) != 1 {
				t.Errorf("sessions %v", sessions)
			}
			s.NobodyLeft()
		})
	}
}
