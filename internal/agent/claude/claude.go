// Package claude is the profile of Claude Code, the command claude, in its headless use: claude -p, and the conversations
// of its SDKs.
//
// Whatever form of output the caller asked for, the CLI is started with its stream of events: they show that it is
// alive, what it retries by itself, and why it failed, none of which the other forms do. What the caller asked for is made of
// the events in the end, byte for byte as the CLI would have printed it. A conversation (--input-format stream-json) is
// left as it is, and its events are read in passing.
//
// What is known here comes from runs of versions 1.0.128 to 2.1.325 against scripted APIs.
package claude

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Name of the profile.
const Name = "claude"

// MaxInput is the most that can reach the API in one request. Versions from 2.1.140 or so on take no more than ten million
// characters on stdin, and say so themselves; older ones take this.
const MaxInput = 32 << 20

// Profile is one command line of claude.
type Profile struct {
	args []string // all of it, the command first
	line agent.CommandLine
	env  []string
	// set is what the user's settings of claude put into its environment.
	set func() map[string]string
}

// New reads a command line, whose first argument is the command itself, and the environment it is to run in.
func New(args, env []string) *Profile {
	p := &Profile{args: args, env: env}
	if len(args) > 0 {
		p.line = options().Read(args[1:])
	}
	p.set = sync.OnceValue(p.settingsEnv)
	return p
}

// Name implements [agent.Profile].
func (p *Profile) Name() string { return Name }

// Headless implements [agent.Profile]: -p is, a conversation, for which the SDKs leave it out, and a session in the background. Sub-commands such as
// claude mcp take neither, and -h and -v do no work.
func (p *Profile) Headless() bool {
	if p.line.Has("-h") || p.line.Has("-v") {
		return false
	}
	if p.conversation() || p.inBackground() {
		return true
	}
	if p.line.Unknown == "" {
		return p.line.Has("-p")
	}
	for _, a := range p.line.Args { // an unknown flag keeps the rest from being read
		switch {
		case a == "--":
			return false
		case a == "-p", a == "--print", a == "-pc", a == "-cp":
			return true
		}
	}
	return false
}

// conversation reports whether the caller drives the session, one line of JSON after another.
func (p *Profile) conversation() bool {
	const option, value = "--input-format", "stream-json"
	if p.line.Unknown == "" {
		return p.line.Value(option) == value
	}
	is := p.line.Value(option) == value
	for i, a := range p.line.Args { // an unknown flag keeps the rest from being read
		switch {
		case a == "--":
			return is
		case a == option:
			is = i+1 < len(p.line.Args) && p.line.Args[i+1] == value
		case strings.HasPrefix(a, option+"="):
			is = a == option+"="+value
		}
	}
	return is
}

// isMessage reports whether a line of the caller's is a message, which claude answers. There may be no answer to others.
func isMessage(line []byte) bool {
	var e struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(line, &e) == nil && e.Type == "user"
}

// Reads implements [agent.Profile].
func (p *Profile) Reads() bool { return true }

// Judge implements [agent.Profile], for an outcome that was saved.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	return agent.Replay(p.Follow(agent.Plan{Plain: p.line.Unknown != ""}), o, now)
}

// ladder: SIGINT is the only signal that ends the tools too, and may take a moment; SIGTERM leaves them behind.
var ladder = supervise.Ladder{{Signal: syscall.SIGINT, Wait: 4 * time.Second}, {Signal: syscall.SIGTERM, Wait: 3 * time.Second}}

// form is what the caller has asked claude to print.
func (p *Profile) form() agent.Form {
	switch p.line.Value("--output-format") {
	case "json":
		return agent.JSON
	case "stream-json":
		return agent.Stream
	}
	return agent.Text
}

// Info implements [agent.Agent].
func (p *Profile) Info() agent.Info {
	t := agent.Info{Gate: p.gate(), Provider: cmp.Or(p.cloud(), "anthropic"), Home: p.configDir(), Form: p.form(), Ladder: ladder, MaxInput: MaxInput, Unknown: p.line.Unknown,
		Tested: Descriptor.Tested, Request: p.request, WithModel: p.withModel, Model: p.model}
	if p.credential() == "" && p.cloud() == "" { // on macOS the file is missing, or old: there a keychain has the login
		dir := cmp.Or(p.getenv("CLAUDE_SECURESTORAGE_CONFIG_DIR"), t.Home)
		t.Login = agent.StoredLogin{Path: filepath.Join(dir, Descriptor.Login.File), Expires: []string{"claudeAiOauth", "expiresAt"}}
	}
	if t.Once = p.conversation(); t.Once {
		t.Asks = isMessage
	}
	if p.inBackground() {
		t.Once, t.Screen, t.Unknown = true, true, ""
	}
	t.TellsCalls, t.TellsAgents = !p.plain(), !p.plain()
	if !t.Once && !p.plain() {
		t.Stall, t.ToolStall = p.stalls()
	}
	if r := p.line.Value("-r"); !p.line.Has("--fork-session") {
		t.Resumes = r
	}
	if t.GoesOn = p.line.Has("-r") || p.line.Has("-c"); !t.GoesOn {
		t.Fixed = p.line.Value("--session-id")
	}
	t.Prompt, _ = p.prompt()
	t.HasPrompt = len(p.line.Words()) > 0 || p.line.Unknown != ""
	t.Silence = 3 * time.Second // as claude itself
	t.OwnLog = ownLog
	t.Own = p.ownRetries()
	return t
}

// planAlias is the name for two models: claude plans with the one and works with the other.
const planAlias = "opusplan"

// model is the one that the command line or the environment names; empty if neither does.
func (p *Profile) model() string { return cmp.Or(p.line.Value("--model"), p.getenv("ANTHROPIC_MODEL")) }

// plain says that the command line is left alone: it has a flag that we do not know, or asks for a form that cannot be
// made of the events without keeping all of them, or is wrong in itself, which claude says best.
func (p *Profile) plain() bool {
	switch p.line.Value("--output-format") {
	case "", "text":
	case "json":
		if p.line.Has("--verbose") { // an array of all events
			return true
		}
	case "stream-json":
		if !p.line.Has("--verbose") { // an error
			return true
		}
	default:
		return true
	}
	return p.line.Unknown != "" || !p.line.Has("-p")
}

// gate is the key of the limits: those of an account at an endpoint.
func (p *Profile) gate() string {
	host := cmp.Or(p.cloud(), agent.Host(p.getenv("ANTHROPIC_BASE_URL")), "api.anthropic.com")
	// Without a credential claude is logged in, and the account is that of its configuration.
	return agent.GateKey(Name, host, cmp.Or(p.credential(), p.configDir()))
}

// credential is the one of the environment; empty if there is none.
func (p *Profile) credential() string {
	return cmp.Or(p.getenv("ANTHROPIC_AUTH_TOKEN"), p.getenv("ANTHROPIC_API_KEY"), p.getenv("CLAUDE_CODE_OAUTH_TOKEN"))
}

// cloud is the provider that stands in for Anthropic's own service; empty if none does.
func (p *Profile) cloud() (name string) {
	for _, cloud := range []string{"bedrock", "vertex", "foundry"} {
		if on := p.getenv("CLAUDE_CODE_USE_" + strings.ToUpper(cloud)); on != "" && on != "0" {
			name = cloud
		}
	}
	return name
}

// configDir is where claude keeps its settings and sessions.
func (p *Profile) configDir() string {
	if dir := p.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return agent.HomeDir(p.env) + "/.claude"
}

func (p *Profile) getenv(name string) string { return agent.Getenv(p.env, name) }
