// Package gemini is the profile of Google's Gemini CLI, the command gemini, in its headless use: gemini -p.
//
// Where the caller asks for text, the CLI is started with its stream of events: they show that it is alive, which tools it
// uses and why it failed. The text is made of the events in the end, byte for byte as the CLI would have printed it. What it
// prints as JSON cannot be made of the events, which do not tell all of it; it is left as it is. That it tries again by itself, it says on
// stderr alone.
//
// What is known here comes from runs of versions 0.40.0 to 0.61.0 against scripted APIs.
package gemini

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Name of the profile.
const Name = "gemini"

// MaxInput is the most that gemini reads on stdin. It cuts off what is longer, says so in passing, and asks nothing.
const MaxInput = 8 << 20

// stall is how long gemini may show no event: it says nothing while a model thinks, nor while a tool runs.
const stall = 900 * time.Second

// ladder is how gemini is stopped. It runs as two processes, a parent that only waits and that takes no signal, and the one
// that works. Signals go to the group of both. The tools have sessions of their own, and outlive all of it; they are ended with the tree.
var ladder = supervise.Ladder{{Signal: syscall.SIGINT, Wait: 4 * time.Second}, {Signal: syscall.SIGTERM, Wait: 3 * time.Second}}

// Profile is one command line of gemini.
type Profile struct {
	args []string // all of it, the command first
	line agent.CommandLine
	env  []string
	home string // where gemini keeps its things
}

// New returns the profile of a command line, args[0] being the command, that is started with that environment in that
// directory.
func New(args, env []string, dir string) *Profile {
	if len(args) == 0 {
		args = []string{Name}
	}
	p := &Profile{args: args, env: env, line: options().Read(args[1:])}
	if home := cmp.Or(p.getenv("GEMINI_CLI_HOME"), p.getenv("HOME"), p.getenv("USERPROFILE")); home != "" {
		if !filepath.IsAbs(home) {
			home = filepath.Join(dir, home)
		}
		p.home = filepath.Join(home, ".gemini")
	}
	return p
}

// Name implements [agent.Profile].
func (p *Profile) Name() string { return Name }

// Headless implements [agent.Profile]: with -p gemini is, and where CI is set. Without either it depends on the terminal.
func (p *Profile) Headless() bool {
	own := p.line.Args
	if i := slices.Index(own, "--"); i >= 0 {
		own = own[:i]
	}
	for i, a := range own {
		if name, _, _ := strings.Cut(a, "="); slices.Contains(elsewhere, name) && !(i > 0 && slices.Contains([]string{optPrompt, "--prompt"}, own[i-1])) {
			return false
		}
	}
	if words := p.line.Words(); len(words) > 0 && slices.Contains(commands, words[0].Values[0]) {
		return false
	}
	if p.line.Has(optPrompt) {
		return true
	}
	if p.line.Unknown != "" { // it keeps the rest from being read
		return slices.ContainsFunc(own, func(a string) bool {
			name, _, _ := strings.Cut(a, "=")
			return name == optPrompt || name == "--prompt"
		})
	}
	return p.getenv("CI") == "true" || p.getenv("GITHUB_ACTIONS") == "true"
}

// Reads implements [agent.Profile].
func (p *Profile) Reads() bool { return true }

// Judge implements [agent.Profile], for an outcome that was saved. The form of its output is known by how it begins.
func (p *Profile) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	return agent.Replay(&follower{profile: p, saved: true}, o, now)
}

// Info implements [agent.Agent].
func (p *Profile) Info() agent.Info {
	t := agent.Info{Gate: p.gate(), Provider: p.provider(), Home: p.home, Form: p.form(), Ladder: slices.Clone(ladder), MaxInput: MaxInput, Unknown: p.line.Unknown,
		Tested: Descriptor.Tested, Request: p.request, WithModel: p.withModel,
		Model: func() string { return cmp.Or(p.line.Value(optModel), p.getenv("GEMINI_MODEL")) }}
	if p.home != "" && t.Provider == "code-assist" {
		t.Login = agent.StoredLogin{Path: filepath.Join(p.home, Descriptor.Login.File), Expires: []string{"expiry_date"}}
	}
	t.TellsCalls, t.TellsAgents = p.showsEvents(), p.showsEvents()
	if p.line.Unknown == "" { // else it may be anything
		t.Stall, t.ToolStall = stall, agent.StallBeyond(stall, p.shellTimeout())
	}
	if r := p.line.Value(optResume); agent.IsUUID(r) {
		t.Resumes = r
	}
	if t.GoesOn = p.line.Has(optResume); !t.GoesOn {
		t.Fixed = p.line.Value(optID)
	}
	t.Prompt = p.prompt()
	t.HasPrompt = t.Prompt != "" || p.line.Unknown != ""
	t.Silence = 3 * time.Second // gemini itself waits half a second, after it has started
	return t
}

// form is what the caller has asked gemini to print.
func (p *Profile) form() agent.Form {
	switch p.line.Value(optFormat) {
	case "json":
		return agent.JSON
	case "stream-json":
		return agent.Stream
	}
	return agent.Text
}

// showsEvents reports whether gemini is started so that it prints events. A form that it does not know is for it to refuse.
func (p *Profile) showsEvents() bool {
	form := p.line.Value(optFormat)
	return p.line.Unknown == "" && (form == "" || form == "text" || form == "stream-json")
}

// prompt is the prompt in the command line: that of -p, or the words.
func (p *Profile) prompt() string {
	if own := p.line.Value(optPrompt); own != "" {
		return own
	}
	var words []string
	for _, w := range p.line.Words() {
		words = append(words, w.Values[0])
	}
	return strings.Join(words, " ")
}

// provider names the service: Google's API for a key, its cloud, or the one behind a login.
func (p *Profile) provider() string {
	switch {
	case p.getenv("GOOGLE_GENAI_USE_VERTEXAI") == "true":
		return "vertex"
	case p.getenv("GEMINI_API_KEY") == "" || p.getenv("GOOGLE_GENAI_USE_GCA") == "true":
		return "code-assist"
	}
	return "google"
}

// gate is the key of the limits: those of an account at an endpoint. Without a key gemini is logged in, and the account is that of its home.
func (p *Profile) gate() string {
	host, account := "", p.getenv("GEMINI_API_KEY")
	switch p.provider() {
	case "vertex":
		host = cmp.Or(agent.Host(p.getenv("GOOGLE_VERTEX_BASE_URL")), "aiplatform.googleapis.com")
		account = cmp.Or(p.getenv("GOOGLE_API_KEY"), p.getenv("GOOGLE_CLOUD_PROJECT"), p.getenv("GOOGLE_CLOUD_PROJECT_ID"))
	case "code-assist":
		host, account = cmp.Or(agent.Host(p.getenv("CODE_ASSIST_ENDPOINT")), "cloudcode-pa.googleapis.com"), ""
	default:
		host = cmp.Or(agent.Host(p.getenv("GOOGLE_GEMINI_BASE_URL")), "generativelanguage.googleapis.com")
	}
	return agent.GateKey(Name, host, cmp.Or(account, p.home))
}

func (p *Profile) getenv(name string) string { return agent.Getenv(p.env, name) }
