package profile

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/gemini"
	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/agent/opencode"
)

// registry has one row for each CLI, in the order in which people are told of them.
var registry = []*agent.Descriptor{
	&claude.Descriptor,
	&codex.Descriptor,
	&gemini.Descriptor,
	&opencode.Descriptor,
	&gh.Descriptor,
}
