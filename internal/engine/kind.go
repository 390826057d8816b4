package engine

import (
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/retry"
)

// kind is what an invocation does otherwise for one kind of command than for another: a plain one, one that calls a
// service, an agent's turn, a conversation with an agent.
type kind interface {
	// traits are what the stages must know of it.
	traits() call.Traits
	// policy is the caller's policy with the kind's own idea of retries.
	policy(retry.Policy) retry.Policy
	// begin is called once, before the first attempt. The refusal says why there is none.
	begin() *admission.Refusal
	// prepare says how an attempt is started, and what takes its output. turnOver is told of each turn of a conversation. An error says that it cannot work, whatever happens.
	prepare(n int, ad admission.Admission, turnOver func(transcript.TurnReport)) (launch, transcript.Transcript, error)
	// learn takes note of what an attempt has done.
	learn(*judgement)
	// complete finds out what the verdict lacks.
	complete(*judgement)
	// restart prepares another attempt that costs no retry, and reports whether there is one: the command was not
	// understood, or what it was to go on with is gone.
	restart(*judgement) bool
	// settle finds out whether an attempt that failed can be repeated: nil if so. The judgement may become a success.
	settle(*judgement) *retry.Error
	// hindrance is why there must be no further attempt though the policy has one; nil if there is no reason.
	hindrance(*judgement) *retry.Error
	// repeat prepares the attempt after one that failed.
	repeat(*judgement)
	// resumePrice is what it costs to continue after a failed attempt at a time, in words, if that is more than usual; else empty.
	resumePrice(j *judgement, at time.Time) string
	// sendBack prepares an attempt that tells an agent what its work lacks, and reports whether there can be one.
	sendBack(j *judgement, what string) bool
	// continues reports whether the next attempt goes on with what one before has done, and in which session.
	continues() (session string, yes bool)
	// describe puts into a line of the log what is special to the kind.
	describe(e *journal.Entry, j *judgement)
	// prompts are what the command was asked beside [Command.Prompt]: in its arguments, and on stdin.
	prompts() []string
	// release gives free what the attempts were given: there is no further one.
	release()
	// account fills in what the result tells of all attempts so far, and end puts that on record: there is no further one.
	account(r *belaytype.Result)
	end(r *belaytype.Result)
	// preview fills in how the first attempt would be started.
	preview(*belaytype.Preview) error
	// innerRetries is how often the command has tried again by itself, and was not stopped.
	innerRetries() int
	// knowsFailures says that the profile can tell what a failure of the command means.
	knowsFailures() bool
}

// printsLines reports whether what a command prints is read line by line: that of an agent which is not on a terminal.
func printsLines(p agent.Profile) bool {
	a, ok := p.(agent.Agent)
	return ok && a.Headless()
}
