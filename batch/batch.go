// Package batch runs many commands, or asks an agent many things, several at a time, and continues where it was stopped.
//
//	b := batch.Batch{Command: []string{"claude", "-p"}, Runner: belay.Runner{Profile: "claude"}, Results: "answers.jsonl"}
//	for res, err := range b.Run(ctx, tasks) {
//		…
//	}
//
// Tasks come from an iterator and are read as they are needed. Each becomes one invocation of a [belay.Runner], in this process. Their
// results come out of another iterator as they end, and are appended to the file that [Batch.Results] names, if it names one. A later Run with
// the same file continues: what has ended is not run again, and an agent that was working when the program was killed continues its session.
//
// A limit of the service does not fail a task. It waits until the limit lifts, unless the policy of the Runner has a MaxWait.
package batch

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/batch"
)

// Task is one thing to do.
type Task struct {
	// ID names the task in the results; it must be unique. Empty means one that is made of what the task says.
	ID string
	// Prompt takes the place of {} in the arguments. If there is none, an agent is asked it, and any other command reads it from stdin.
	Prompt string
	// Args are added to those of [Batch.Command].
	Args []string
	// Dir is the working directory; empty means the caller's. Env adds to the environment.
	Dir string
	Env map[string]string
	// DependsOn are ids of tasks before this one that must be done first. If one of them is not, this one is skipped.
	DependsOn []string
}

// Result is what has become of a task.
type Result struct {
	Task Task
	// Result is the result of the run; nil for a task that was skipped.
	*belay.Result
	// Err is nil if the task is done, and otherwise what [belay.Runner.Run] has returned.
	Err error
	// Skipped is the id of a task that this one depends on and that is not done; empty if it was not skipped for that.
	Skipped string
	// Begun says how: "new", "resumed" in the session in which an agent was at work on the task when an earlier Run was ended, or "restarted"
	// if it was running then, and there is no session to continue.
	Begun string
}

// Batch says how tasks are run. A Batch may be copied, and run again when it has ended.
type Batch struct {
	// Command is how each command line begins. {} stands for the prompt of the task and {id} for its id, also within an argument; there is
	// no shell.
	Command []string
	// Runner runs each task. Its Profile says what the command is.
	Runner belay.Runner
	// Jobs is how many tasks run at a time; 0 lets the batch find out how many the service takes, at most 32.
	Jobs int
	// Results is the file that results are appended to, as belay batch does; empty means none. It is locked while the batch runs.
	Results string
	// RetryFailed also runs tasks whose result in that file is a failure.
	RetryFailed bool
	// FailFast starts nothing more once a task has failed.
	FailFast bool
	// MaxCost is what all tasks together may cost in US dollars before nothing more is started; 0 means no limit.
	MaxCost float64
	// Deadline is when everything is stopped; zero means never.
	Deadline time.Time
}

// Run runs the tasks and yields the result of each as it ends, once it is on file. Tasks that the file has already are not among them. To end
// the iteration early stops what is running. Where the batch ends before its tasks do, the last pair has no result and the reason: an error
// of the tasks' iterator, the context's cause, or what is wrong with the file.
func (b *Batch) Run(ctx context.Context, tasks iter.Seq2[Task, error]) iter.Seq2[*Result, error] {
	return func(yield func(*Result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		next, stop := iter.Pull2(tasks)
		defer stop()
		r := newRun(b)
		over := make(chan error, 1)
		go func() {
			defer close(r.results)
			over <- r.run(ctx, &stream{next})
		}()
		for res := range r.results {
			if !yield(res, nil) {
				cancel()
				for range r.results { // what is running ends
				}
				return
			}
		}
		if err := <-over; err != nil {
			yield(nil, err)
		}
	}
}

// stream reads the tasks of an iterator, once.
type stream struct {
	next func() (Task, error, bool)
}

func (s *stream) Name() string                { return "tasks" }
func (s *stream) Columns() ([]string, error)  { return nil, nil }
func (s *stream) Open() (batch.Reader, error) { return s, nil }
func (s *stream) Close() error                { return nil }

func (s *stream) Next() (batch.Task, error) {
	t, err, ok := s.next()
	switch {
	case !ok:
		return batch.Task{}, io.EOF
	case err != nil:
		return batch.Task{}, err
	}
	return batch.Task{ID: t.ID, Prompt: t.Prompt, Args: t.Args, Cwd: t.Dir, Env: t.Env, DependsOn: t.DependsOn}, nil
}

func (s *stream) Skip() error {
	_, err := s.Next()
	return err
}

// taskOf is the task of a job as the caller has given it, with its id.
func taskOf(job *batch.Job) Task {
	t := &job.Task
	return Task{ID: t.ID, Prompt: t.Prompt, Args: t.Args, Dir: t.Cwd, Env: t.Env, DependsOn: t.DependsOn}
}

// errUnfinished is the error of a batch that has ended before its tasks, for a reason that has no error of its own.
var errUnfinished = errors.New("batch: stopped before all tasks were done")
