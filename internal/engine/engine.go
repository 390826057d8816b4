// Package engine makes calls to command-line tools dependable: a command in, one result out.
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
package engine

import "context"

// Run runs one command with the zero [Runner]: once, with its output in the result.
func Run(ctx context.Context, args ...string) (*Result, error) {
	var r Runner
	return r.Run(ctx, Command{Args: args})
}
