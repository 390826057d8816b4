package help

import (
	"strconv"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/verdict"
)

// ExitMeaning says what an exit code means.
type ExitMeaning struct{ Code, Meaning string }

// ExitCodes are the exit codes of belay run as help and documentation explain them.
func ExitCodes() []ExitMeaning {
	return []ExitMeaning{
		{"the command's", "on success, and always when the command ended by itself; death by signal n is 128+n, and a 0 that is not true (see --fail-on) is 1"},
		{strconv.Itoa(engine.CodeUsage), "wrong use of belay; nothing was started"},
		{strconv.Itoa(engine.CodeTryLater), "try later: a limit, retries used up, or a gate, scope or budget that is closed. A plain command whose retries are used up keeps its own code, and so does every command with --max-retries 0"},
		{strconv.Itoa(engine.CodePersonMustAct), "credentials or billing: a person must act. The same commands keep their own code"},
		{strconv.Itoa(engine.CodeTimeout), "--timeout, --total-timeout or --stall-timeout"},
		{strconv.Itoa(engine.CodeFailed), "belay itself failed"},
		{strconv.Itoa(engine.CodeNotExecutable) + ", " + strconv.Itoa(engine.CodeNotFound), "the command is not executable, was not found"},
		{"130, 143", "interrupted, terminated"},
	}
}

// ClassMeaning says what a class of verdicts means and what follows from it.
type ClassMeaning struct {
	Class              verdict.Class
	Meaning, Following string
}

// ClassMeanings are the meanings of all classes, for belay help verdicts and docs/verdicts.md.
func ClassMeanings() []ClassMeaning {
	const final, retried, once = "not retried", "retried", "retried once"
	return []ClassMeaning{
		{verdict.OK, "the work was done", ""},
		{verdict.RateLimit, "too many requests for the moment", "retried after a wait, within --max-wait and 20 starts, or --max-retries"},
		{verdict.UsageLimit, "the plan or quota is used up until it resets", "retried if it resets within --max-wait; the result has the time"},
		{verdict.Overloaded, "the service is at capacity", retried},
		{verdict.ServerError, "another failure of the service (5xx)", retried},
		{verdict.Network, "the connection was refused, reset or lost", retried},
		{verdict.Timeout, "a request timed out, or --timeout passed", "retried (after --timeout only with --retry-timeouts)"},
		{verdict.Stalled, "no activity for the stall limit", once},
		{verdict.BadOutput, "the answer is empty or malformed", once},
		{verdict.SessionBusy, "another process is using the session", retried},
		{verdict.Auth, "credentials are missing or were rejected", final},
		{verdict.Billing, "no credit, or not part of the plan", final},
		{verdict.InvalidRequest, "a wrong flag, setting or request", final},
		{verdict.NotFound, "not found (404), or an unknown model", final},
		{verdict.TooLarge, "the prompt or its context is too large", final},
		{verdict.SessionNotFound, "the session to continue is gone", final},
		{verdict.SessionBroken, "the service rejects the history of the session", "not retried; `belay sessions repair ID` repairs a copy"},
		{verdict.LimitReached, "the limit on turns, cost or output was reached", final},
		{verdict.Refused, "refused for reasons of policy or safety", final},
		{verdict.Blocked, "exit code 0, but nothing was done", final},
		{verdict.NotDone, "the command succeeded, but --check failed", "an agent's session continues with the check's output, up to --check-rounds times; exit code 1"},
		{verdict.Conflict, "the work is done and committed, but --land could not bring it into its branch", "nothing of yours is touched, and the branch stays; exit code 1"},
		{verdict.WrongModel, "another model than --require-model answered", "retried if the model was overloaded; never exit code 0"},
		{verdict.Resources, "above --max-memory, or below --min-free-disk", "an agent's session continues once, a plain command is retried if you ask for it; then exit code 75"},
		{verdict.Runaway, "above --max-agents or --max-repeats", "an agent's session continues once, and is told why; then exit code 75"},
		{verdict.ToolMissing, "the command was not found or is not executable", "not retried (exit code 127 or 126)"},
		{verdict.Interrupted, "ended by INT, TERM or HUP (exit code 130, 143 or 129)", final},
		{verdict.Crash, "ended by another signal", "retried only if you ask for it"},
		{verdict.BreakerOpen, "the gate's breaker is open, and nothing was started", "exit code 75, with the time to try again"},
		{verdict.Unknown, "none of these", "a plain command is retried if you ask for it"},
	}
}
