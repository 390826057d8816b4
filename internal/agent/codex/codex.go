// Package codex is the profile of OpenAI's Codex CLI, run as `codex exec`.
//
// A [Profile] is made for one command line. It reads that by the CLI's own options (options.go, line.go), says how an
// attempt is started (plan.go), follows its events (follow.go) and tells failures apart (rules.go, judge.go). What it
// knows comes from real runs of 0.120 to 0.166.
package codex

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
const Name = "codex"

// stall is how long codex may be silent: it shows nothing while a reasoning model thinks for minutes.
const stall = 900 * time.Second

// ladder is how codex is stopped. SIGINT is the only signal at which it ends its tools; after SIGTERM what they have
// started keeps running.
var ladder = supervise.Ladder{{Signal: syscall.SIGINT, Wait: 5 * time.Second}, {Signal: syscall.SIGTERM, Wait: 3 * time.Second}}

// Profile knows one command line of codex.
type Profile struct {
	args     []string
	line     line
	headless bool
	home     string // where codex keeps its things
	// settings are what the command line, the environment and the config file say of the service. They are read from
	// a file, and only if they are needed.
	settings func() settings
}

// New returns the profile of a command line, args[0] being the command, that is started with that environment in that
// directory.
func New(args []string, env []string, dir string) *Profile {
	if len(args) == 0 {
		args = []string{Name}
	}
	p := &Profile{args: args, home: homeOf(env, dir)}
	p.line, p.headless = read(args[1:])
	p.settings = sync.OnceValue(func() settings { return findSettings(p.line, env, p.home) })
	return p
}

// Name implements agent.Profile.
func (p *Profile) Name() string { return Name }

// Headless implements agent.Profile: it is `codex exec`, alone or with resume or review. Everything else is not ours: an
// interactive run, login.
func (p *Profile) Headless() bool { return p.headless }

// Reads implements agent.Profile.
func (p *Profile) Reads() bool { return true }

// Judge implements agent.Profile. It takes events for what they are and the plain form for what it is, whatever the
// command line asks for: a saved outcome may come without one.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	return agent.Replay(&follower{Attempt: agent.Attempt{Guess: true, Asked: p.form(), ResumeID: p.line.session()}, model: p.model}, o, now)
}

// Info implements agent.Agent.
func (p *Profile) Info() agent.Info {
	t := agent.Info{
		Gate:      p.settings().gate(),
		Provider:  cmp.Or(agent.KeyPart(p.settings().provider), "openai"),
		Home:      p.home,
		Form:      p.form(),
		Tested:    Descriptor.Tested,
		Request:   p.request,
		WithModel: p.withModel,
		Model:     p.namedModel,
		ShowsWork: p.form() == agent.Text,
		Ladder:    slices.Clone(ladder),
		Stall:     agent.StallBeyond(stall, p.settings().streamIdle),
		ToolStall: agent.StallBeyond(stall, p.settings().streamIdle, p.settings().toolTimeout),
		Own:       p.settings().own(),
		MaxInput:  Descriptor.MaxInput,
		Resumes:   p.line.session(),
		Unknown:   p.line.unknown(),
	}
	_, word := p.line.prompt()
	if t.NoInput = p.line.reviews && (word == nil || word.Values[0] != "-"); word != nil && word.Values[0] != "-" {
		t.Prompt = word.Values[0]
	}
	if p.home != "" && p.settings().account == p.home && p.settings().envKey == "" { // else a key of the environment, or of the provider's, takes its place
		t.Login = agent.StoredLogin{Path: filepath.Join(p.home, Descriptor.Login.File), Expires: []string{"tokens", "access_token"}}
	}
	t.TellsCalls, t.TellsAgents = t.Unknown == "", t.Unknown == ""
	if t.Unknown != "" { // no event can be seen, and without one silence means nothing
		t.Stall, t.ToolStall = 0, 0
	}
	return t
}

// form is what the caller has asked codex to print.
func (p *Profile) form() agent.Form {
	if p.line.has(optJSON) {
		return agent.Stream
	}
	return agent.Text
}

// model is the one that the command line or the config asks for; empty if none does.
func (p *Profile) model() string { return cmp.Or(p.namedModel(), p.settings().model) }

// namedModel is the one that the command line names; empty if it names none.
func (p *Profile) namedModel() string {
	for _, part := range p.line.parts() {
		if m := part.Value("--model"); m != "" {
			return m
		}
	}
	return ""
}

// Follow implements agent.Agent.
func (p *Profile) Follow(plan agent.Plan) agent.Follower {
	now := time.Now()
	f := &follower{Attempt: agent.Attempt{Plain: plan.Plain, Added: plan.Added}, start: now, last: now, home: p.home, reviews: p.line.reviews,
		prices: plan.Prices, model: p.model}
	f.silentLimit = func() int {
		if slices.ContainsFunc(plan.Added, func(a string) bool { return strings.HasSuffix(a, noRequestRetries) }) {
			return 0
		}
		return p.settings().requestRetries
	}
	if len(plan.Args) > 0 {
		l, _ := read(plan.Args[1:])
		f.ResumeID, f.resumes = l.session(), l.resumes
	}
	if f.ResumeID != "" {
		f.from = sizeOf(p.home, f.ResumeID)
	}
	if p.line.unknown() != "" {
		f.Plain, f.Guess = false, true // a --json may stand after the flag that is not known
	}
	return agent.Follower{Reader: f, SubAgents: f.subAgents}
}
