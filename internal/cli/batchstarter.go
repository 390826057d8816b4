package cli

import (
	"sync"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/supervise"
)

// taskStarter starts the commands of tasks as belay run does. It looks for an executable once: the PATH of a batch does not change, and that is a
// thirtieth of what a short command takes.
type taskStarter struct {
	engine.Supervised
	mu    sync.Mutex
	found map[[2]string]string // paths by name and directory
}

// Look implements [engine.Starter].
func (s *taskStarter) Look(name, dir string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{name, dir}
	if path, ok := s.found[key]; ok {
		return path, nil
	}
	path, err := s.Supervised.Look(name, dir)
	if err == nil {
		if s.found == nil || len(s.found) > 1000 { // a command for each task, say
			s.found = map[[2]string]string{}
		}
		s.found[key] = path
	}
	return path, err
}

// Run implements [engine.Starter].
func (s *taskStarter) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	exit, err := s.Supervised.Run(spec, started)
	if err != nil { // it may be somewhere else by now
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(s.found)
	}
	return exit, err
}
