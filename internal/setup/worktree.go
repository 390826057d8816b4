package setup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
)

// Worktree has the commands of a runner work in trees of their own, if the settings say so. A setting is skipped where there can be no tree, and so it is for a run inside
// another one, which has its tree already; a flag is refused there.
func Worktree(s *config.Settings, r *engine.Runner, dir string) (skipped []string, err error) {
	from := s.From("worktree")
	switch {
	case s.Worktree == "" && from != "": // it is off
		return nil, nil
	case s.Worktree == "":
		return nil, needs(s, "worktree", "worktree-dir", "worktree-setup", "land")
	}
	r.Worktree = engine.Worktree{On: true, Ref: s.Worktree, Dir: s.WorktreeDir, Setup: s.WorktreeSetup, Land: s.Land}
	if strings.HasPrefix(from, "--") {
		return nil, nil
	}
	why := errors.New("the run is inside another one")
	if engine.EnclosingRun() == "" {
		if why = r.CheckWorktree(dir); why == nil {
			return nil, nil
		}
	}
	r.Worktree = engine.Worktree{}
	return []string{fmt.Sprintf("%s has no effect here: %v", from, why)}, nil
}
