package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// What a tree of 50,000 files costs, beside git worktree add alone: time by the clock, since git goes on though Belay is killed, and is no child of it then.
func BenchmarkEnter(b *testing.B) {
	top := filepath.Join(b.TempDir(), "repo")
	for d := range 500 {
		dir := filepath.Join(top, fmt.Sprint("d", d))
		must.OK(b, os.MkdirAll(dir, 0o755))
		for f := range 100 {
			must.OK(b, os.WriteFile(filepath.Join(dir, fmt.Sprint("f", f)), fmt.Appendf(nil, "%d %d\n", d, f), 0o644))
		}
	}
	run(b, top, "init", "-q", "-b", "main")
	run(b, top, "add", "-A")
	run(b, top, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "one")
	s := Of(filepath.Join(b.TempDir(), "state"), nil)
	var ours, gits time.Duration
	// One after the other begins. Nothing is removed in between: ext4 does not use inodes again for half a minute, and who is next has to skip them.
	for n := 0; b.Loop(); n++ {
		plain := func() {
			run(b, top, "worktree", "add", "-q", "--detach", filepath.Join(b.TempDir(), "plain"), "HEAD")
		}
		enter := func() {
			tree, err := s.Plan(top, "", "")
			must.OK(b, err)
			tree.ID, tree.Run = fmt.Sprint("run", n), fmt.Sprint("run", n)
			must.OK(b, tree.Enter())
			_, err = tree.Renew(0, tree.Base, Working, nil)
			must.OK(b, err)
			tree.Release()
		}
		for i := range 2 {
			before := time.Now()
			if (n+i)%2 == 0 {
				plain()
				gits += time.Since(before)
			} else {
				enter()
				ours += time.Since(before)
			}
		}
	}
	b.ReportMetric(float64(ours)/float64(gits), "of-git-worktree-add")
}
