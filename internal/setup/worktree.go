package setup

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// Worktree has the commands of a runner work in trees of their own, if the settings say so. A setting is skipped where there can be no tree, and so it is for a run inside
// another one, which has its tree already; a flag is refused there.
func Worktree(s *config.Settings, r *engine.Runner, dir string) (skipped []string, err error) {
	from := s.From("worktree")
	if s.Worktree == "" {
		if from != "" {
			return nil, nil // it is off
		}
		for _, name := range []string{"worktree-dir", "worktree-setup", "land"} {
			if strings.HasPrefix(s.From(name), "--") {
				return nil, command.Usage(message.Error("--"+name+" needs --worktree"), "")
			}
		}
		return nil, nil
	}
	r.Worktree = engine.Worktree{On: true, Ref: s.Worktree, Dir: s.WorktreeDir, Setup: s.WorktreeSetup, Land: s.Land}
	if strings.HasPrefix(from, "--") {
		return nil, nil
	}
	why := "the run is inside another one"
	if engine.EnclosingRun() == "" {
		err := r.CheckWorktree(dir)
		if err == nil {
			return nil, nil
		}
		why = err.Error()
	}
	r.Worktree = engine.Worktree{}
	return []string{fmt.Sprintf("%s has no effect here: %s", from, why)}, nil
}
