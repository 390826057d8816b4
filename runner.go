package belay

import (
	"context"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// Runner says how commands are run. The zero value works: a command is run once, its whole process tree ends with the
// context, and nothing is written anywhere. A Runner may be used by several goroutines at the same time, and copied.
type Runner struct {
	// Profile names what the command is treated as: "claude", "codex", "opencode", "gh", one of those that come as data with Belay, or
	// "generic", which is also the default.
	// Nothing is known of a generic command: every failure is worth repeating if Policy.MaxRetries asks for retries at all.
	// The profile is made for each command as it is run.
	Profile string

	// Judge, if not nil, may overrule the profile's verdict on a command that ended by itself. It is called with the
	// profile's own verdict, what the command left behind, and the time.
	Judge func(own verdict.Verdict, o verdict.Outcome, now time.Time) verdict.Verdict

	// Policy says how often, how long and how to wait. Its zero MaxRetries means none for a generic command: what has an
	// effect must not be repeated unless that was asked for. For the other profiles it means the preset of that name,
	// which also fills in the delays that are not set. Classify, OnRetry and OnGiveUp are not used; Delay gets an [*Error].
	Policy retry.Policy

	// Stall ends an attempt that has printed nothing for so long. Zero means the agent's own limit, and none for other
	// commands; negative means none.
	Stall time.Duration

	// Stream passes output on as it comes, also that of attempts that will be repeated. Otherwise the output of a
	// command that may be repeated is held until it is known to count.
	Stream bool

	// Keep also keeps in the result what is passed on live: the output, and of the standard error what says why it
	// failed. The command then writes to pipes instead of the caller's files.
	Keep bool

	// ReplayStdin keeps the standard input for further attempts. Otherwise an attempt that has read any of it is
	// the last one.
	ReplayStdin bool

	// Gate is what is shared with all that name the same key: all processes of the user where there is a State, else all
	// runners of this process.
	Gate Gate

	// Scope, if not empty, lets only one run of that key live at a time, among those that share gates; OnBusy says what to
	// do when it is taken.
	Scope  string
	OnBusy OnBusy

	// Resume says how the sessions of an agent are treated.
	Resume Resume

	// Effects says what is done where a failure leaves open whether the command has changed something.
	Effects Effects

	// LimitBuffer is how long is waited beyond the reset of a service's limit; 0 means 5 s, negative none.
	LimitBuffer time.Duration

	// MaxCost is what all attempts of an agent together may cost, in US dollars, with the agents that it runs by Belay where
	// there is a State. At that limit it is stopped before its next model call, with a [MaxCostReached]; an agent that has
	// delivered its result is not. 0 means no limit.
	MaxCost float64

	// CheckRounds is how often an agent is told that its work is not done, where [Command.Check] says so; 0 means 3, negative never. CheckPrompt
	// is what it is told before that; empty means to finish the work. A command that has no session is started again if Policy asks for retries.
	CheckRounds int
	CheckPrompt string

	// RequireModel is the model that alone may work on the request, or "asked": the one that the command line or the
	// environment names, and if neither does, the agent itself at its start. Another one in the main thread of an agent ends the attempt with
	// [verdict.WrongModel]; it is repeated where the model is overloaded. A command that does not tell its model is refused. Fallbacks may use
	// other models. Empty means that a [ModelSubstitution] is told, and nothing else.
	RequireModel string

	// MaxMemory is how many bytes of memory the command may use together with all that it has started, and MinFreeDisk how many must stay free on the
	// disks that it works on: where it runs, the home directory and that of temporary files. MaxAgents is how many sub-agents an agent may have at a
	// time, and MaxRepeats the tool call with the same input in a row that is one too many. Beyond that an attempt is ended, with [verdict.Resources]
	// or [verdict.Runaway]; an agent's session continues once, and is told why. 0 means no limit.
	MaxMemory, MinFreeDisk int64
	MaxAgents, MaxRepeats  int

	// Fallbacks are agents that get the request, one after the other, when the agent before cannot take it: a limit ends later
	// than may be waited, the service stays overloaded, or the breaker of its gate is open. The failure of any of them that is permanent is
	// final. The request must be one that the fallback can be given, or the command is refused with a [*FallbackRefused].
	Fallbacks []Fallback
	// FallbackAfterWork asks fallbacks also after the agent before has worked on the request, which they do again.
	FallbackAfterWork bool

	onlyAttempt bool // see [Agent.FromEnv]: the number of attempts is one

	// Name and Tags are the run's labels, by which users find runs and add up what they cost: in the log, in statistics, among
	// the runs under way, and in the result. A name has at most 100 bytes, a tag a key of at most 40 letters, digits and . _ -, and a
	// value of at most 100 bytes. Runs that the command starts by Belay inherit them, and so does this one from the run that this
	// process was started in; its own go before those.
	Name string
	Tags map[string]string

	// NoWait fails where a wait at a gate or for a scope would be needed. Waits between attempts are the policy's.
	NoWait bool

	// Reap ends what the command has left running in the background, also after a success.
	Reap bool

	// State is where the log, run records, gates, scopes, sessions and alerts are kept; nil means nowhere. Trouble with it
	// is told to Observe and stops nothing.
	State *State

	// Alert says how many failures of one integration (the profile, or a generic command's name) are too many. They are
	// counted in the State.
	Alert Alert

	// LogDir is where claude's own log of invocations goes; empty means .logs in the working directory if there is a State,
	// and nowhere if there is none. [NoLogDir] means nowhere.
	LogDir string

	// InSession, if not nil, is told the name of an agent's session as soon as that is known, from a goroutine of the run.
	InSession func(id string)

	// Observe is told what happens, one event at a time, from goroutines of the run, which wait for it. Lines that an agent
	// prints are not among that: see [Invocation.Events].
	Observe func(Event)
}

// NoLogDir as [Runner.LogDir] means that an agent's runs are logged nowhere but in the State.
const NoLogDir = engine.NoLogDir

// Fallback is an agent that gets the request of another one: see [Runner.Fallbacks].
type Fallback struct {
	// Agent is its name, as in [Agent.Name]. It may be that of the first one, with another Model.
	Agent string
	// Model is the model that it is to use; empty means its own choice.
	Model string
	// Args, if not nil, are its arguments. Without them it is told what the first command line says, as far as it has exact
	// equivalents; a restriction that has none refuses the command.
	Args []string
}

// Alert says how many failures raise an alert: see [AlertRaised].
type Alert struct {
	// Failures is how many raise an alert; 0 means 5, negative turns alerts off.
	Failures int
	// Within is the time in which they come; 0 means 10 minutes.
	Within time.Duration
}

func (a Alert) settings() alert.Settings {
	return alert.Settings{Failures: a.Failures, Within: a.Within}
}

// Run runs the command to its end. The result is never nil; the error is nil if it is a success, an [*Error] if it
// is not, and a [*UsageError] if the command cannot be run as it was asked for, so that nothing was started.
func (r *Runner) Run(ctx context.Context, c Command) (*Result, error) {
	runner, err := r.bind(&c)
	if err != nil {
		return engine.Refused(err), err
	}
	return runner.Run(ctx, c)
}

// Start begins to run the command in the background. The error is a [*UsageError].
func (r *Runner) Start(ctx context.Context, c Command) (*Invocation, error) {
	runner, err := r.bind(&c)
	if err != nil {
		return nil, err
	}
	inv, err := runner.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Invocation{inv}, nil
}

// Preview says how the first attempt would be started. Nothing is started, written or read from stdin. The error says why
// it could not be started.
func (r *Runner) Preview(c Command) (Preview, error) {
	runner, err := r.bind(&c)
	if err != nil {
		return Preview{}, err
	}
	inv, err := runner.Prepare(context.Background(), c)
	if err != nil {
		return Preview{}, err
	}
	return inv.Preview()
}

// bind makes the engine's runner for a command. The error is a [*UsageError].
func (r *Runner) bind(c *Command) (*engine.Runner, error) {
	args := c.Args
	if len(args) == 0 {
		args = []string{""} // the engine will say that there is no command
	}
	known, err := profile.Bind(r.Profile, args, c.Env, c.Dir)
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	runner := &engine.Runner{
		Profile:           known,
		Judge:             r.Judge,
		Policy:            r.Policy,
		Resume:            r.Resume,
		Effects:           r.Effects,
		Observe:           r.Observe,
		InSession:         r.InSession,
		FallbackAfterWork: r.FallbackAfterWork,
		Check:             engine.Check{Rounds: r.CheckRounds, Prompt: r.CheckPrompt, Repeat: r.Policy.MaxRetries > 0},
		Limits:            engine.Limits{Stall: r.Stall, OnlyAttempt: r.onlyAttempt, LimitBuffer: r.LimitBuffer, MaxCost: r.MaxCost, RequireModel: r.RequireModel, Ceilings: engine.Ceilings{Memory: r.MaxMemory, FreeDisk: r.MinFreeDisk, Agents: r.MaxAgents, Repeats: r.MaxRepeats}, Reap: r.Reap},
		Streams:           engine.Streams{Stream: r.Stream, Keep: r.Keep, ReplayStdin: r.ReplayStdin},
		Admission:         engine.Admission{Gate: r.Gate, Scope: r.Scope, OnBusy: r.OnBusy, NoWait: r.NoWait},
		Record:            engine.Record{Alert: r.Alert.settings(), LogDir: r.LogDir, Labels: label.Labels{Name: r.Name, Tags: r.Tags}.Over(label.Inherited())},
	}
	for _, f := range r.Fallbacks {
		runner.Fallbacks = append(runner.Fallbacks, engine.Fallback{Profile: f.Agent, Model: f.Model, Args: f.Args, Judge: r.Judge})
	}
	if r.State != nil {
		runner.State = &state.State{Dir: r.State.Dir}
	}
	return runner, nil
}
