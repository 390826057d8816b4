// Package agent says what Belay must know of a command-line tool to make calls to it dependable. There is a folder
// for each tool; what belongs to one tool is in its folder and nowhere else.
//
// A [Profile] judges how a command ended. An [Agent] is more: the profile of a CLI that works for a model, which is
// started in its own way ([Agent.Plan]), followed while it works ([Follower]) and resumed where it left off.
package agent

import (
	"io"
	"regexp"
	"time"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Profile is what Belay knows of one CLI.
type Profile interface {
	// Name is the profile's name, as in --profile.
	Name() string
	// Headless says that the command never needs the terminal: it leads a session of its own.
	Headless() bool
	// Reads says that the verdict depends on what the command prints, beyond how it ends.
	Reads() bool
	// Judge says what an outcome means. It is asked only about commands that ended by themselves.
	Judge(o verdict.Outcome, now time.Time) verdict.Verdict
}

// Agent is the profile of a CLI that works for a model, made for one command line of it.
type Agent interface {
	Profile
	// Info say how this command is to be treated.
	Info() Info
	// Plan says how to start an attempt. An error says why the command cannot work; nothing has been started then.
	Plan(Turn) (Plan, error)
	// Follow returns what follows one attempt that was started by that plan.
	Follow(Plan) Follower
}

// Info say how one command line of an agent is to be treated.
type Info struct {
	// Gate is the key of the limits that the call falls under: the service, its host and a short hash of the account.
	// Never a credential.
	Gate string
	// Provider names the service that the call goes to, in one word; empty if that is not known.
	Provider string
	// Home is where the CLI keeps what it knows of its sessions.
	Home string
	// Login is the login that the call uses, where that is in a file.
	Login StoredLogin
	// Form is what the caller has asked the CLI to print.
	Form Form
	// ShowsWork says that the CLI, in that form, shows people on stderr what it does. Where it is made to print events instead, Belay
	// shows that in its place, see [LineInfo.Begun]; else its stderr is passed on as it comes.
	ShowsWork bool
	// Tested are the versions that the profile is tested with.
	Tested Tested
	// Request is what the command line asks for, so that another CLI, or with WithModel another model of its own, can be asked for it: WithModel is
	// the whole command line with another model in place of its own. Both are nil if that is not known.
	Request   func() Request
	WithModel func(model string) []string
	// Model is the model that the command line or the environment names; empty if neither does. Nil means that the CLI does not tell which model works.
	Model func() string
	// TellsCalls says that its events tell of tool calls with all of their input, TellsAgents that they, or its record, tell of sub-agents.
	TellsCalls, TellsAgents bool
	// Ladder is how the CLI is stopped, Daemons what it leaves running on purpose.
	Ladder  supervise.Ladder
	Daemons []*regexp.Regexp
	// Stall is how long it may show no event, ToolStall while a tool runs. Zero where life cannot be seen.
	Stall, ToolStall time.Duration
	// Own is what the user's settings of the CLI itself say of its retries and waits.
	Own OwnRetries
	// MaxInput is the most that the CLI takes on stdin, in bytes; 0 means no limit. NoInput says that it reads nothing there.
	MaxInput int64
	NoInput  bool
	// Resumes is the session that the command line itself resumes; empty if none, or if it does not say which.
	Resumes string
	// GoesOn says that the command line resumes a session, whichever.
	GoesOn bool
	// Fixed is the name that the command line gives to the new session; empty if it leaves that to the CLI.
	Fixed string
	// Prompt is the prompt in the command line. HasPrompt says that there is one, so that stdin is not needed.
	Prompt    string
	HasPrompt bool
	// Silence is how long stdin is waited for where it is not needed; 0 means 10 s.
	Silence time.Duration
	// OwnLog is the file that scripts around this CLI expect a log of invocations in, in the directory .logs; empty if
	// they expect none.
	OwnLog string
	// Once says that there can be no second attempt: stdin is a conversation, which the caller drives line by line. Asks then reports
	// whether a line of the caller's makes it the CLI's turn; nil if that cannot be said.
	Once bool
	Asks func(line []byte) bool
	// Screen says that it has a terminal of its own, which is left to it: what it does is told by [Follower.Look] alone.
	Screen bool
	// Unknown is the flag of the command line that the option table does not know. The command line is then left alone,
	// and no event can be seen.
	Unknown string
}

// Form is one of the forms in which a CLI prints its answer.
type Form int

const (
	Text   Form = iota // the answer
	JSON               // one object at the end
	Stream             // a line of JSON for each event
)

// MaxArgument is how long a prompt may be in the command line, in bytes: 10 KB, as seed 003 has it. A longer one goes by stdin where the CLI reads that: the
// process table shows arguments to every user, and the system limits their length.
const MaxArgument = 10_000

// Turn is what one attempt is asked to do.
type Turn struct {
	// Prompt is what the caller asked for beside the command line. It is text, also where it begins with - or /. Nil
	// means that the command line has it all.
	Prompt *string
	// Stdin is what the caller's stdin held; nil if there was none.
	Stdin []byte
	// Session is the one to resume instead of what the command line says; empty means as that says.
	Session string
	// Continue says that the session knows the task: Prompt takes the place of the command line's own, and of Stdin.
	Continue bool
	// Plain leaves the command line alone: what was added to it was not understood.
	Plain bool
	// Turns and Spent are what the attempts before have used up of what the command line allows: turns of the model, and US
	// dollars.
	Turns int
	Spent float64
	// MaxRetries is how often the CLI may try again by itself, where the caller has said so; nil leaves it to the CLI.
	MaxRetries *int
}

// UsedUp is the error of a plan that has nothing left of what the command line allows: its last turn is taken, its money
// is spent.
type UsedUp struct{ Option string }

func (e *UsedUp) Error() string { return e.Option + " is used up by the attempts so far" }

// Plan is how an attempt is started.
type Plan struct {
	Args []string
	// Env are settings in addition to the caller's environment.
	Env []string
	// Stdin is what the CLI reads; nil means nothing.
	Stdin []byte
	// Plain says that the output is in the caller's own form, with no events in it.
	Plain bool
	// Added are the options that were added to the caller's.
	Added []string
	// Prices say what model calls cost where the CLI does not; nil means the list that is built in.
	Prices *price.Table
	// Chatter is what the CLI says on stderr only because it is started without a terminal.
	Chatter string
}

// Follower is what follows one attempt: its [Reader], and what it knows beside the output. A function that is nil means that there is nothing of
// that. It is never asked by two goroutines at once.
type Follower struct {
	Reader
	// StderrLine takes a line of stderr, without its end; the line is not valid afterwards: a CLI may say there what others say in events, such as
	// that it tries again by itself. ok is false if it tells nothing. The info says how the attempt stands as a whole, as that of [Reader.Line]
	// does. Its Show counts in either case, where there is a StderrBegins: all else on stderr is the caller's.
	StderrLine func(line []byte) (info LineInfo, ok bool)
	// StderrBegins is for a CLI that was made to say more on stderr than its caller asked for. It says of the begin of a line whether the line may be
	// one of those. Of others StderrLine is not asked, and they are passed on at once.
	StderrBegins func(begin []byte) bool
	// Look says what is new on the CLI's own record, which is a sign of life and tells what its events do not: what a model call has used, say. ok is
	// false if nothing is new. It is asked now and then, and more often for a moment after a line that says that the model will be asked once more.
	Look func() (info LineInfo, ok bool)
	// Started is told of the process once it runs.
	Started func(pid int)
	// SubAgents is how many sub-agents work now, where the CLI's own record tells more of them than its events. It is asked where there is a limit,
	// instead of Look.
	SubAgents func() int
	// ExitCode is what the CLI would have ended with in the form that its caller asked for, where it was started with another one.
	ExitCode func(code int) int
	// JudgeTurn says what the turn of a conversation was worth that has just ended, see [LineInfo.TurnOver].
	JudgeTurn func(now time.Time) verdict.Verdict
}

// Reader reads what one attempt prints while it comes, and says in the end what it was worth.
type Reader interface {
	// Line takes a line of stdout. Its Text is not valid afterwards; its Long stays open as long as the follower is asked.
	Line(line Line) LineInfo
	// Judge says what the outcome means. The outcome's Stdout is not needed.
	Judge(o verdict.Outcome, now time.Time) verdict.Verdict
	// Account says what the attempt has done. It is asked after Judge.
	Account() Account
	// Render writes what the CLI would have printed on stdout, in the form Text or JSON.
	Render(w io.Writer, f Form) error
	// Answer is the model's last answer; empty if there is none.
	Answer() Answer
}

// LineInfo is what a line tells about the attempt. The zero value is a sign of life.
type LineInfo struct {
	// Answered says that the service answers: there is something of the model.
	Answered bool
	// Tools is how many tools run now.
	Tools int
	// Retrying says that the CLI is about to try again by itself, why, and after which wait; nil if it is not.
	Retrying *Retrying
	// Troubled says that the model has not answered since the CLI was last about to try again.
	Troubled bool
	// Delivered says that the result is there and nothing is known to go on in the background.
	Delivered bool
	// Waiting says that, in a conversation, it is its caller's turn: to say something, or to answer what it has asked.
	Waiting bool
	// TurnOver says that, in a conversation, a turn has ended with this line.
	TurnOver bool
	// Turn is what the model call that this line ends has used, with its cost if there is a price for it; nil if the line ends
	// none. Where a CLI tells more of a call afterwards, that comes as another Turn with the difference.
	Turn *verdict.Usage
	// Continues says that the model is about to be asked again: it has called tools, and what they answer is not the result.
	Continues bool
	// Show says what becomes of the line where the caller wants to see events.
	Show Show
	// Foreign says that the line is no event of the CLI: something in front of it, or in its place, has printed it. The
	// caller gets it in any form.
	Foreign bool
	// Activity is what the agent does now.
	Activity Activity
	// Begun is the use of a tool that the line tells of first, and Said what the model has said before that beside its answer.
	Begun Activity
	Said  string
	// Models says which model works.
	Models ModelUse
	// Quota is what the line tells of the limits of the account: how much of them is used on a good day too. Nil if it tells nothing of that.
	Quota []quota.Window
	// Calls are the calls of tools that the line tells of first, and SubAgents is how many sub-agents work now.
	Calls     []Call
	SubAgents int
}

// Retrying is a retry inside the CLI.
type Retrying struct {
	Verdict verdict.Verdict
	Wait    time.Duration
	// Hopeless says that it will not help: a bad key does not get better.
	Hopeless bool
	// Repeated says that the CLI has told of this retry before: Wait is what is left of its wait.
	Repeated bool
}

// Show says what becomes of a line of events.
type Show int

const (
	Pass Show = iota // it is for the caller
	Hold             // it says that the attempt failed; the caller sees it only if that is final
	Drop             // the caller has not asked for it
)

// Account says what an attempt has done.
type Account struct {
	// Session is the CLI's name for the conversation.
	Session string
	// Active says that the model or a tool has done something: to begin anew would pay for it twice.
	Active bool
	// Usage is what the attempt has used.
	Usage verdict.Usage
	// Estimate is what the model calls of the attempt cost by the price list, as far as the CLI has told of them; nil if there
	// was none, or no price for one. It counts where the CLI does not tell the cost.
	Estimate *float64
	// SessionCost is what the session has cost in all, in US dollars, where the CLI says that and not what the attempt
	// has; else nil. SessionTokens is how many it has used for that, in and out.
	SessionCost   *float64
	SessionTokens int64
	// Tools are those that were used, as far as the CLI tells.
	Tools ToolUse
	// Turns is how many turns the model has taken.
	Turns int
	// Model is the one that it worked for; empty if the CLI does not say.
	Model string
	// Version is the CLI's own; empty if it does not say.
	Version string
	// Status is the HTTP status of the answer that the attempt failed of; 0 if the CLI does not say.
	Status int
	// AllModels says that the limit which the attempt has hit is that of the account, whichever the model.
	AllModels bool
	// Requests is how many requests the CLI has made of its service, as far as it tells: those that were answered, that
	// failed, and that it repeated. 0 if it does not tell.
	Requests int
	// Unseen is how many retries inside the CLI there must have been that it did not tell of.
	Unseen int
	// Quota is what the attempt has told of the limits of its account that no line has told: on its record, at the end. See [LineInfo].
	Quota []quota.Window
	// Dir is where it has worked, if that is not where it was started.
	Dir string
	// Unused says that nothing was asked of it, so that there is nothing to put on record.
	Unused bool
	// Misunderstood says that the CLI did not take one of the options that were added for us.
	Misunderstood bool
}

// Priced is the usage, with the estimate for its cost where the CLI has told none.
func (a *Account) Priced() verdict.Usage {
	u := a.Usage
	if u.CostUSD == nil && a.Estimate != nil {
		u.CostUSD, u.Estimated = a.Estimate, true
	}
	return u
}
