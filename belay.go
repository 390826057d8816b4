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
// tried again is up to the [retry.Policy]. What Belay knows of a CLI is its profile, which [Runner.Profile] names.
//
// An [Agent] asks a coding agent for one thing. A failed attempt is not paid for twice: the next one resumes the session.
//
//	res, err := belay.Claude("Fix the failing test", "--model", "sonnet").Run(ctx)
//
// [Runner.Run] returns a [*Result] in every case, and an [*Error] unless it is a success. The error says why there was no
// further attempt: one of the sentinels of package retry, or one of the causes of this package, such as [GateRefused]. A
// [*UsageError] says that nothing was started. [Runner.Start] returns at once with an [Invocation] to wait for, to cancel
// and to follow: its [Event] values are a closed set.
//
// Nothing is written anywhere unless asked for. A [State] is a directory that the log, run records, sessions and gates are
// kept in, and that all processes of a user may share; a Runner without one shares its gates within the process.
//
// The package changes nothing of the process it is used in: it installs no signal handlers, does not change the working
// directory and does not reap the children of others.
package belay

import "context"

// Run runs one command with the zero [Runner]: once, with its output in the result.
func Run(ctx context.Context, args ...string) (*Result, error) {
	var r Runner
	return r.Run(ctx, Command{Args: args})
}
