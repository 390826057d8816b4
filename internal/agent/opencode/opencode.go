// Package opencode is the profile of opencode in its headless use, `opencode run`.
//
// Whatever form of output the caller asked for, opencode is started with its stream of events, and with its log on stderr. The
// events tell what was said, done and spent, and why it failed; the log tells what they do not: that it asks a model, and that
// it tries again by itself after a failure, which it may do without a word for an hour, or for ever. The text form is made of the
// events in the end, byte for byte as opencode would have printed it, and the log is taken out of stderr again.
//
// What is known here comes from runs of versions 1.3.2 to 1.18.33 against scripted APIs.
package opencode

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Name of the profile.
const Name = "opencode"

// stall is how long opencode may be silent: it shows nothing while a reasoning model thinks for minutes.
const stall = 900 * time.Second

// ladder is how opencode is stopped. It ends at once by any signal, and leaves its tools to us.
var ladder = supervise.Ladder{{Signal: syscall.SIGINT, Wait: 4 * time.Second}, {Signal: syscall.SIGTERM, Wait: 3 * time.Second}}

// Profile knows one command line of opencode.
type Profile struct {
	args     []string
	line     line
	headless bool
	dir      string // where it is to be started; empty for where we are
	home     string // where opencode keeps its things
	// settings are what the command line, the environment and the config files say of the service. They are read from
	// files, and only if they are needed.
	settings func() settings
}

// New returns the profile of a command line, args[0] being the command, that is started with that environment in that
// directory.
func New(args, env []string, dir string) *Profile {
	if len(args) == 0 {
		args = []string{Name}
	}
	p := &Profile{args: args, dir: dir, home: dataDir(env)}
	p.line, p.headless = read(args[1:])
	p.settings = sync.OnceValue(func() settings { return findSettings(p.line, env, dir, p.home) })
	return p
}

// Name implements agent.Profile.
func (p *Profile) Name() string { return Name }

// Headless implements agent.Profile: it is `opencode run`. Everything else is not ours: the terminal interface, serve, auth.
func (p *Profile) Headless() bool { return p.headless }

// Reads implements agent.Profile.
func (p *Profile) Reads() bool { return true }

// Judge implements agent.Profile. It takes events for what they are and the plain form for what it is, whatever the
// command line asks for: a saved outcome may come without one.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	return agent.Replay(&follower{Attempt: agent.Attempt{Guess: true, Asked: p.form()}}, o, now)
}

// Info implements agent.Agent.
func (p *Profile) Info() agent.Info {
	t := agent.Info{
		Gate:      p.settings().gate(),
		Provider:  cmp.Or(agent.KeyPart(p.settings().provider), Name),
		Home:      p.home,
		Form:      p.form(),
		Tested:    Descriptor.Tested,
		Request:   p.request,
		WithModel: p.withModel,
		// What the config names may be another one for each of opencode's agents.
		Model:     func() string { return p.line.run.Value(optModel) },
		ShowsWork: p.form() == agent.Text,
		Ladder:    slices.Clone(ladder),
		Stall:     agent.StallBeyond(stall, p.settings().silence),
		ToolStall: agent.StallBeyond(stall, p.settings().silence, p.settings().bash),
		MaxInput:  maxInput,
		Resumes:   p.line.session(),
		GoesOn:    p.line.goesOn(),
		Prompt:    p.line.message(),
		Unknown:   p.line.run.Unknown,
	}
	if p.home != "" && p.settings().account == p.home { // else a key of the provider's takes its place
		t.Login = agent.StoredLogin{Path: filepath.Join(p.home, Descriptor.Login.File), Expires: []string{p.settings().provider, "expires"}}
	}
	t.TellsCalls, t.TellsAgents = t.Unknown == "", t.Unknown == ""
	if t.Unknown != "" { // no event can be seen, and without one silence means nothing
		t.Stall, t.ToolStall = 0, 0
	}
	return t
}

// form is what the caller has asked opencode to print.
func (p *Profile) form() agent.Form {
	if p.line.run.Value(optFormat) == "json" {
		return agent.Stream
	}
	return agent.Text
}

// Follow implements agent.Agent.
func (p *Profile) Follow(plan agent.Plan) agent.Follower {
	f := &follower{Attempt: agent.Attempt{Plain: plan.Plain, Added: plan.Added}, thinking: p.line.has(optThinking), ownLogs: p.line.has(optLogs)}
	if p.line.run.Unknown != "" {
		f.Plain, f.Guess = false, true // a --format json may stand after the flag that is not known
	}
	if len(plan.Args) > 0 {
		if l, ok := read(plan.Args[1:]); ok {
			f.ResumeID = l.session()
		}
	}
	return agent.Follower{Reader: f, StderrLine: f.stderrLine, StderrBegins: f.stderrBegins}
}

const sessionExample = "ses_e23634cffffe7BTx91ERbyKpKO"

// isSession reports whether an id has the form of opencode's: ses_, and 26 letters and digits.
func isSession(id string) bool {
	rest, ok := strings.CutPrefix(id, "ses_")
	return ok && len(rest) >= 20 && len(rest) <= 40 && !strings.ContainsFunc(rest, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}
