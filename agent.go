package belay

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/agent"
	_ "github.com/belay-run/belay/internal/config" // has the profiles that are data; each is read when its CLI is named
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/retry"
)

// Agent asks a coding agent for one thing. [Claude], [Codex], [Gemini] and [OpenCode] make one; its fields may be set before it
// is run.
type Agent struct {
	// Name is the agent's profile: "claude", "codex", "gemini", "opencode", or one of those that are data, as "belay profile list" names them.
	Name string
	// Prompt is the request. It is text, however it begins and however long it is.
	Prompt string
	// Options are further arguments in the CLI's own words, such as "--model", "sonnet".
	Options []string
	// Dir is the working directory, to which sessions belong; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's.
	Env []string
	// Path is the command; empty means Name, as the PATH finds it.
	Path string
	// Runner says how it is run; its Profile is not used. The zero value has the retries and limits of the agent's preset.
	Runner Runner
}

// Claude asks Claude Code: claude -p. The options are further arguments of claude's.
func Claude(prompt string, options ...string) *Agent {
	return &Agent{Name: "claude", Prompt: prompt, Options: options}
}

// Codex asks Codex: codex exec. The options are further arguments of codex's.
func Codex(prompt string, options ...string) *Agent {
	return &Agent{Name: "codex", Prompt: prompt, Options: options}
}

// Gemini asks Gemini CLI: gemini -p. The options are further arguments of gemini's.
func Gemini(prompt string, options ...string) *Agent {
	return &Agent{Name: "gemini", Prompt: prompt, Options: options}
}

// OpenCode asks opencode: opencode run. The options are further arguments of opencode's.
func OpenCode(prompt string, options ...string) *Agent {
	return &Agent{Name: "opencode", Prompt: prompt, Options: options}
}

// Run asks and waits for the answer, which is the result's Output. See [Runner.Run].
func (a *Agent) Run(ctx context.Context) (*Result, error) {
	r, c, err := a.bind()
	if err != nil {
		return engine.Refused(err), err
	}
	return r.Run(ctx, c)
}

// Start asks in the background. The lines that the CLI prints are among [Invocation.Events], as [AgentEvent] values.
func (a *Agent) Start(ctx context.Context) (*Invocation, error) {
	r, c, err := a.bind()
	if err != nil {
		return nil, err
	}
	return r.Start(ctx, c)
}

// bind makes the command of the agent, and its runner.
func (a *Agent) bind() (*Runner, Command, error) {
	d := profile.Find(a.Name)
	if d == nil || !d.IsAgent() {
		return nil, Command{}, &UsageError{Err: fmt.Errorf("there is no agent %q", a.Name)}
	}
	args := append(append([]string{cmp.Or(a.Path, a.Name)}, d.Ask...), a.Options...)
	prompt, r := a.Prompt, a.Runner
	r.Profile = a.Name
	return &r, Command{Args: args, Dir: a.Dir, Env: a.Env, Prompt: &prompt}, nil
}

// FromEnv sets up the Runner as the environment, which is Env or the caller's, says in the variables that scripts around
// claude have long used:
//
//	CLAUDE_MAX_RETRIES    how many attempts there may be, the first one too; at least 1
//	CLAUDE_BASE_DELAY     the wait before the first retry, as 30s or in plain seconds
//	CLAUDE_MAX_DELAY      the longest wait before a retry
//	CLAUDE_JITTER_FACTOR  by which part of itself a wait may be longer or shorter, as 0.2
//	CLAUDE_LOG_DIR        where claude's own log goes; none for nowhere
//
// They are not read unless FromEnv is called, and there are none for other agents. What the Runner already says holds. The
// error is a [*UsageError] that names the variable; the agent is then left as it was.
func (a *Agent) FromEnv() error {
	cli := profile.Find(a.Name)
	if cli == nil {
		return nil
	}
	vars := a.variables(cli)
	if len(vars) == 0 {
		return nil
	}
	own, logDir := a.Runner.Policy, a.Runner.LogDir
	counted := own.MaxRetries != 0 || own.CountThrottles
	p := own
	if !counted {
		p = cli.Preset
		p.Timeout, p.TotalTimeout, p.MaxWait = own.Timeout, own.TotalTimeout, own.MaxWait
		p.BaseDelay, p.MaxDelay, p.Jitter = cmp.Or(own.BaseDelay, p.BaseDelay), cmp.Or(own.MaxDelay, p.MaxDelay), cmp.Or(own.Jitter, p.Jitter)
	}
	for _, v := range vars {
		var given bool // the program itself says so
		var set func(text string) error
		switch v.Setting {
		case "max-retries":
			given, set = counted, func(text string) error { return setRetries(&p, text) }
		case "base-delay":
			given, set = own.BaseDelay != 0, func(text string) error { return setDelay(&p.BaseDelay, text) }
		case "max-delay":
			given, set = own.MaxDelay != 0, func(text string) error { return setDelay(&p.MaxDelay, text) }
		case "jitter":
			given, set = own.Jitter != retry.Jitter{}, func(text string) (err error) {
				p.Jitter, err = retry.ParseJitter(text)
				return err
			}
		case "log-dir":
			given, set = logDir != "", func(text string) error {
				logDir = text
				return nil
			}
		}
		if given || set == nil {
			continue
		}
		text, err := v.Read(v.value)
		if err == nil {
			err = set(text)
		}
		if err != nil {
			return &UsageError{Err: fmt.Errorf("%s: %w", v.Name, err)}
		}
	}
	a.Runner.Policy, a.Runner.LogDir = p, logDir
	a.Runner.onlyAttempt = !counted && p.MaxRetries == retry.None
	return nil
}

// variable is an environment variable of an agent's that is set to something.
type variable struct {
	*agent.Variable
	value string
}

// variables are the variables of the CLI's own that are set to anything, in its order.
func (a *Agent) variables(cli *agent.Descriptor) (vars []variable) {
	env := a.Env
	if env == nil {
		env = os.Environ()
	}
	for i := range cli.Variables {
		v := &cli.Variables[i]
		if value := agent.Getenv(env, v.Name); value != "" {
			vars = append(vars, variable{v, value})
		}
	}
	return vars
}

// setRetries sets a number of retries. Every one counts, as the user who sets a number expects.
func setRetries(p *retry.Policy, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	p.MaxRetries, p.CountThrottles = n, true
	if n == 0 {
		p.MaxRetries = retry.None
	}
	return nil
}

// setDelay reads a duration or a number of seconds. None at all is the shortest there is: 0 would mean the default.
func setDelay(to *time.Duration, text string) error {
	d, err := time.ParseDuration(text)
	if seconds, notSeconds := strconv.ParseFloat(text, 64); notSeconds == nil {
		d, err = time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2)), nil
		if math.IsNaN(seconds) {
			d = -1
		}
	}
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration; write 30s, 5m or plain seconds", text)
	}
	*to = max(d, 1)
	return nil
}
