package run

import (
	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/stdio"
)

// StandIn is for a run in the place of a CLI, which is to look as the CLI alone does: it makes what starts the CLI. It is nil for belay run.
type StandIn func(engine.Supervised) engine.Starter

// adjust turns off settings that would show belay to a caller who does not know of it.
func (in StandIn) adjust(s *config.Settings) {
	if in == nil {
		return
	}
	s.OutputFormat, s.GitHub = "", false
	if !s.Chosen("log-dir") {
		s.LogDir = engine.NoLogDir
	}
}

// attach makes the run look as the CLI alone does: of belay it shows nothing but what the CLI would show of its work, and an end that
// the CLI does not explain itself.
func (in StandIn) attach(r *engine.Runner, command *belaytype.Command, v *view) {
	if in == nil {
		return
	}
	if own, ok := r.Starter.(engine.Supervised); ok && own.Supervisor != nil {
		r.Starter = in(own)
	}
	r.Observe = func(e belaytype.Event) { v.notices.observe(v, e) }
	r.ShowWork, r.TerminalInput = true, stdio.IsTerminal(command.Stdin)
	r.WholeStream = true
	v.ownWords = true
}
