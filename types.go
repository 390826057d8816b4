package belay

import "github.com/belay-run/belay/belaytype"

// What to run, how, and what comes of it. The fields are described in package belaytype, which these types are from.
type (
	Command = belaytype.Command
	Gate    = belaytype.Gate
	OnBusy  = belaytype.OnBusy
	Resume  = belaytype.Resume
	Effects = belaytype.Effects
	Preview = belaytype.Preview
	Result  = belaytype.Result
	Output  = belaytype.Output
)

// Events are what happens while a command is run: see [belaytype.Event].
type (
	Event             = belaytype.Event
	AttemptStarted    = belaytype.AttemptStarted
	AttemptFailed     = belaytype.AttemptFailed
	Waiting           = belaytype.Waiting
	AtGate            = belaytype.AtGate
	ScopeBusy         = belaytype.ScopeBusy
	GateTrouble       = belaytype.GateTrouble
	WaitOver          = belaytype.WaitOver
	Stopping          = belaytype.Stopping
	LeftRunning       = belaytype.LeftRunning
	Reclaimed         = belaytype.Reclaimed
	StateTrouble      = belaytype.StateTrouble
	ScopeTrouble      = belaytype.ScopeTrouble
	GateFailing       = belaytype.GateFailing
	LogLarge          = belaytype.LogLarge
	InnerRetry        = belaytype.InnerRetry
	SessionGone       = belaytype.SessionGone
	Plain             = belaytype.Plain
	UnknownOption     = belaytype.UnknownOption
	UntestedVersion   = belaytype.UntestedVersion
	ModelSubstitution = belaytype.ModelSubstitution
	StdinSilent       = belaytype.StdinSilent
	OwnLogTrouble     = belaytype.OwnLogTrouble
	FoundDone         = belaytype.FoundDone
	AlertRaised       = belaytype.AlertRaised
	CostNotice        = belaytype.CostNotice
	FellBack          = belaytype.FellBack
	FallbackSkipped   = belaytype.FallbackSkipped
	AgentEvent        = belaytype.AgentEvent
	Missed            = belaytype.Missed
	Process           = belaytype.Process
)

// Errors and their causes: see [belaytype.Error].
type (
	Error           = belaytype.Error
	UsageError      = belaytype.UsageError
	Interrupt       = belaytype.Interrupt
	GateRefused     = belaytype.GateRefused
	ScopeTaken      = belaytype.ScopeTaken
	MaxCostReached  = belaytype.MaxCostReached
	RetriesSpent    = belaytype.RetriesSpent
	EffectUnknown   = belaytype.EffectUnknown
	NoSession       = belaytype.NoSession
	StdinTimeout    = belaytype.StdinTimeout
	TooLong         = belaytype.TooLong
	InputRead       = belaytype.InputRead
	FallbackRefused = belaytype.FallbackRefused
	Replaced        = belaytype.Replaced
)

// ErrMayBeDone says that there was no further attempt because the command may have had its effect. It is in every
// [EffectUnknown].
var ErrMayBeDone = belaytype.ErrMayBeDone

// What to do when a scope is taken, other than to wait: see [Runner.OnBusy].
const (
	BusyReplace = belaytype.BusyReplace // end the run that has it
	BusyFail    = belaytype.BusyFail    // fail at once
)

// LastSession as [Resume.Session] stands for the last session of the same profile in the same directory. It takes a [State] to know it.
const LastSession = belaytype.LastSession
