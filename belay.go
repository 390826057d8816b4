// Package belay makes calls to command-line tools dependable: a command in, one result out.
//
// The simplest use is
//
//	res, err := belay.Run(ctx, "curl", "-sSf", url)
//
// which runs the command once, supervised: if ctx ends, so does the whole process tree. A [Runner] says how often,
// how long and how to wait:
//
//	r := belay.Runner{Policy: retry.Policy{MaxRetries: 3, Timeout: time.Minute}}
//	res, err := r.Run(ctx, belay.Command{Args: []string{"curl", "-sSf", url}})
//
// Each start of the process is an attempt. What its outcome means is a [verdict.Verdict]; whether and when it is
// tried again is the [retry.Policy]'s; all attempts are on record in the log of the state directory.
//
// [Runner.Run] returns a [Result] in every case, and an [*Error] unless it is a success. [Runner.Start] returns at
// once with an [Invocation] to wait for, to signal and to cancel.
//
// The package changes nothing of the process it is used in: no signal handlers, no working directory, no reaping of
// other people's children.
package belay

import "github.com/belay-run/belay/internal/engine"

type (
	Gate            = engine.Gate
	Claude          = engine.Claude
	Codex           = engine.Codex
	Command         = engine.Command
	UsageError      = engine.UsageError
	Resume          = engine.Resume
	Effects         = engine.Effects
	Event           = engine.Event
	AttemptStarted  = engine.AttemptStarted
	AttemptFailed   = engine.AttemptFailed
	Waiting         = engine.Waiting
	AtGate          = engine.AtGate
	ScopeBusy       = engine.ScopeBusy
	GateTrouble     = engine.GateTrouble
	WaitOver        = engine.WaitOver
	Stopping        = engine.Stopping
	LeftRunning     = engine.LeftRunning
	Reclaimed       = engine.Reclaimed
	StateTrouble    = engine.StateTrouble
	ScopeTrouble    = engine.ScopeTrouble
	GateFailing     = engine.GateFailing
	LogLarge        = engine.LogLarge
	InnerRetry      = engine.InnerRetry
	SessionGone     = engine.SessionGone
	Plain           = engine.Plain
	UnknownOption   = engine.UnknownOption
	UntestedVersion = engine.UntestedVersion
	StdinSilent     = engine.StdinSilent
	OwnLogTrouble   = engine.OwnLogTrouble
	FoundDone       = engine.FoundDone
	AlertRaised     = engine.AlertRaised
	Invocation      = engine.Invocation
	Output          = engine.Output
	Preview         = engine.Preview
	Result          = engine.Result
	Runner          = engine.Runner
	Error           = engine.Error
	Interrupt       = engine.Interrupt
	OnBusy          = engine.OnBusy
	Session         = engine.Session
	State           = engine.State
)

const (
	LastSession        = engine.LastSession
	CodeUsage          = engine.CodeUsage
	CodeTryLater       = engine.CodeTryLater
	CodePersonMustAct  = engine.CodePersonMustAct
	CodeTimeout        = engine.CodeTimeout
	CodeFailed         = engine.CodeFailed
	CodeNotExecutable  = engine.CodeNotExecutable
	CodeNotFound       = engine.CodeNotFound
	NoLogDir           = engine.NoLogDir
	BusyWait           = engine.BusyWait
	BusyReplace        = engine.BusyReplace
	BusyFail           = engine.BusyFail
	SessionRunning     = engine.SessionRunning
	SessionDone        = engine.SessionDone
	SessionFailed      = engine.SessionFailed
	SessionInterrupted = engine.SessionInterrupted
	SessionAbandoned   = engine.SessionAbandoned
	StateDirVar        = engine.StateDirVar
	FoldVar            = engine.FoldVar
)

var (
	Run             = engine.Run
	Classify        = engine.Classify
	DefaultStateDir = engine.DefaultStateDir
	OpenState       = engine.OpenState
	When            = engine.When
	Describe        = engine.Describe
	LiftCommand     = engine.LiftCommand
	ErrMaxCost      = engine.ErrMaxCost
	ErrBudget       = engine.ErrBudget
	ErrMayBeDone    = engine.ErrMayBeDone
)
