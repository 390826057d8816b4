package batch_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// tasks are tasks with these ids; one written as b<a depends on a.
func tasks(ids ...string) (list memorySource) {
	for i, id := range ids {
		id, on, depends := strings.Cut(id, "<")
		t := batch.Task{ID: id, Prompt: "do " + id, Line: i + 1}
		if depends {
			t.DependsOn = strings.Split(on, "+")
		}
		list = append(list, t)
	}
	return list
}

// script plays the outcomes of tasks, one after the other, and remembers what was started.
type script struct {
	mu       sync.Mutex
	outcomes map[string][]batch.Outcome
	started  []string
	takes    time.Duration
}

func (s *script) do(ctx context.Context, job *batch.Job) batch.Outcome {
	s.mu.Lock()
	id := job.Task.ID
	s.started = append(s.started, id)
	o := batch.Outcome{State: batch.Done}
	if list := s.outcomes[id]; len(list) > 0 {
		o, s.outcomes[id] = list[0], list[1:]
	}
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
		return o
	case <-ctx.Done():
		return batch.Outcome{State: batch.Waiting}
	}
}

// run runs tasks in fake time.
func run(t *testing.T, s *script, b *batch.Batch, list memorySource) (sum batch.Summary, took time.Duration) {
	t.Helper()
	b.Plan, b.Do = check(t, list), s.do
	if b.Jobs == 0 {
		b.Jobs = 1
	}
	if s.takes == 0 {
		s.takes = time.Second
	}
	begun := time.Now()
	sum, err := b.Run(t.Context())
	must.OK(t, err)
	return sum, time.Since(begun)
}

func counts(sum batch.Summary) string {
	return fmt.Sprintf("done %d, failed %d, skipped %d, left %d", sum.Counts[batch.Done], sum.Counts[batch.Failed], sum.Counts[batch.Skipped], sum.Left())
}

// Who asks only for failures is not told of tasks that are done.
func TestBatch_ToldOfFailuresOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		s := &script{outcomes: map[string][]batch.Outcome{"b": {{State: batch.Failed}}}}
		b := &batch.Batch{FailuresOnly: true, Ended: func(job *batch.Job, o *batch.Outcome) { told = append(told, job.Task.ID+" "+o.State.String()) }}
		run(t, s, b, tasks("a", "b", "c<b", "d"))
		if !slices.Equal(told, []string{"b failed", "c skipped"}) {
			t.Errorf("told of %q", told)
		}
	})
}

// Who takes long over a result holds up neither the other tasks nor a deadline, and is told in the order in which tasks end. No more
// results than some wait for it.
func TestBatch_SlowToBeTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		s := &script{}
		ids := []string{"a", "b", "c", "d"}
		b := &batch.Batch{Ended: func(job *batch.Job, _ *batch.Outcome) {
			time.Sleep(time.Minute)
			told = append(told, job.Task.ID)
		}}
		time.AfterFunc(10*time.Second, func() {
			if done := b.Progress().Done; done != 4 {
				t.Errorf("%d tasks are done after ten seconds", done)
			}
		})
		if sum, took := run(t, s, b, tasks(ids...)); counts(sum) != "done 4, failed 0, skipped 0, left 0" || took != 4*time.Minute+time.Second {
			t.Errorf("%s in %v", counts(sum), took)
		}
		if !slices.Equal(told, ids) {
			t.Errorf("told of %q", told)
		}

		var many []string
		for i := range 200 {
			many = append(many, fmt.Sprint(i))
		}
		s = &script{}
		b = &batch.Batch{Deadline: time.Now().Add(time.Hour), Ended: func(*batch.Job, *batch.Outcome) { time.Sleep(24 * time.Hour) }}
		sum, _ := run(t, s, b, tasks(many...))
		if sum.Stop != batch.DeadlinePassed || len(s.started) < 10 || len(s.started) > 70 {
			t.Errorf("%d tasks were started, stopped for %v", len(s.started), sum.Stop)
		}
	})
}

// A task that comes back unfinished while nothing stops the batch runs again, as one whose job an earlier start of a batch over a fleet has cancelled. The batch used to end without it.
func TestBatch_ComesBackUnfinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{outcomes: map[string][]batch.Outcome{"b": {{State: batch.Waiting, Cost: 0.5}, {State: batch.Waiting, Cost: 0.25}}}}
		sum, _ := run(t, s, &batch.Batch{}, tasks("a", "b", "c<b"))
		if counts(sum) != "done 3, failed 0, skipped 0, left 0" || !sum.Complete() || sum.Spent != 0.75 {
			t.Errorf("%s, stopped for %v, spent %v", counts(sum), sum.Stop, sum.Spent)
		}
		if !slices.Equal(s.started, []string{"a", "b", "b", "b", "c"}) {
			t.Errorf("%q", s.started)
		}
	})
}

var failed = batch.Outcome{State: batch.Failed, Class: verdict.Unknown, Error: "exit 1"}

func TestBatch(t *testing.T) {
	paused := batch.Outcome{State: batch.Paused, Class: verdict.UsageLimit, Error: "limit"}
	for name, tt := range map[string]struct {
		batch    *batch.Batch
		tasks    []string
		outcomes map[string][]batch.Outcome
		want     string
		started  string
		stop     batch.StopReason
		took     time.Duration
	}{
		"AllDone":    {tasks: []string{"a", "b", "c"}, want: "done 3, failed 0, skipped 0, left 0", started: "a b c", took: 3 * time.Second},
		"TwoAtATime": {batch: &batch.Batch{Jobs: 2}, tasks: []string{"a", "b", "c", "d"}, want: "done 4, failed 0, skipped 0, left 0", took: 2 * time.Second},
		"SomeFailed": {tasks: []string{"a", "b"}, outcomes: map[string][]batch.Outcome{"a": {failed}}, want: "done 1, failed 1, skipped 0, left 0", started: "a b", took: 2 * time.Second},
		"FailFast": {batch: &batch.Batch{FailFast: true}, tasks: []string{"a", "b"}, outcomes: map[string][]batch.Outcome{"a": {failed}},
			want: "done 0, failed 1, skipped 0, left 1", started: "a", stop: batch.TooManyFailures, took: time.Second},
		"AbortAfterTwo": {batch: &batch.Batch{Abort: batch.Abort{Failures: 2}}, tasks: []string{"a", "b", "c", "d"}, outcomes: map[string][]batch.Outcome{"a": {failed}, "c": {failed}},
			want: "done 1, failed 2, skipped 0, left 1", started: "a b c", stop: batch.TooManyFailures, took: 3 * time.Second},
		"AbortAfterPercent": {batch: &batch.Batch{Abort: batch.Abort{Percent: 20}}, tasks: strings.Split("a b c d e f g h i j k l", " "), outcomes: map[string][]batch.Outcome{"a": {failed}, "j": {failed}},
			want: "done 8, failed 2, skipped 0, left 2", stop: batch.TooManyFailures, took: 10 * time.Second},
		"DependsOnALaterOne": {tasks: []string{"a<c", "b", "c"}, want: "done 3, failed 0, skipped 0, left 0", started: "b c a", took: 3 * time.Second},
		"DependsOnAFailure": {tasks: []string{"a", "b<a", "c<b", "d"}, outcomes: map[string][]batch.Outcome{"a": {failed}},
			want: "done 1, failed 1, skipped 2, left 0", started: "a d", took: 2 * time.Second},
		"DependsOnTwo": {batch: &batch.Batch{Jobs: 4}, tasks: []string{"a<b+c", "b", "c", "d<a"}, want: "done 4, failed 0, skipped 0, left 0", took: 3 * time.Second},
		"LimitWithoutAHint": {tasks: []string{"a", "b"}, outcomes: map[string][]batch.Outcome{"a": {paused, paused, paused}},
			want: "done 2, failed 0, skipped 0, left 0", started: "a a a a b", took: (5 + 10 + 20 + 5) * time.Second}, // 4 starts of a, one of b
		"LimitAndNoWait": {batch: &batch.Batch{NoWait: true}, tasks: []string{"a", "b"}, outcomes: map[string][]batch.Outcome{"a": {paused}},
			want: "done 0, failed 0, skipped 0, left 2", started: "a", stop: batch.LimitReached, took: time.Second},
		"KeyIsWrong": {tasks: []string{"a", "b"}, outcomes: map[string][]batch.Outcome{"a": {{State: batch.Waiting, Fatal: true, Class: verdict.Auth, Error: "401"}}},
			want: "done 0, failed 0, skipped 0, left 2", started: "a", stop: batch.FatalError, took: time.Second},
		"MaxCost": {batch: &batch.Batch{MaxCost: 1}, tasks: []string{"a", "b", "c"}, outcomes: map[string][]batch.Outcome{"a": {{State: batch.Done, Cost: 0.6}}, "b": {{State: batch.Done, Cost: 0.5}}},
			want: "done 2, failed 0, skipped 0, left 1", started: "a b", stop: batch.CostReached, took: 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, s := tt.batch, &script{outcomes: map[string][]batch.Outcome{}}
				for id, list := range tt.outcomes {
					s.outcomes[id] = slices.Clone(list)
				}
				if b == nil {
					b = &batch.Batch{}
				}
				sum, took := run(t, s, b, tasks(tt.tasks...))
				if got := counts(sum); got != tt.want || sum.Stop != tt.stop || took != tt.took {
					t.Errorf("%s, stopped by %d, in %v; want %s, %d, %v", got, sum.Stop, took, tt.want, tt.stop, tt.took)
				}
				if got := strings.Join(s.started, " "); tt.started != "" && got != tt.started {
					t.Errorf("started %s, want %s", got, tt.started)
				}
			})
		})
	}
}

// A limit of many hours pauses all, and they continue by themselves when it lifts.
func TestBatch_LimitOfHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lifts := time.Now().Add(7 * time.Hour)
		limit := batch.Outcome{State: batch.Paused, Class: verdict.UsageLimit, Until: lifts, Session: "s1"}
		s := &script{outcomes: map[string][]batch.Outcome{"a": {limit}, "b": {limit}}}
		sum, took := run(t, s, &batch.Batch{Jobs: 2}, tasks("a", "b", "c"))
		if counts(sum) != "done 3, failed 0, skipped 0, left 0" || took < 7*time.Hour || took > 7*time.Hour+time.Minute || len(s.started) != 5 {
			t.Errorf("%s in %v: %v", counts(sum), took, s.started)
		}
	})
}

func TestBatch_Deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sum, took := run(t, &script{takes: time.Minute}, &batch.Batch{Deadline: time.Now().Add(90 * time.Second)}, tasks("a", "b", "c"))
		if counts(sum) != "done 1, failed 0, skipped 0, left 2" || sum.Stop != batch.DeadlinePassed || took != 90*time.Second {
			t.Errorf("%s, stopped by %d, in %v", counts(sum), sum.Stop, took)
		}
	})
}

// Who stops a batch that only lets its last tasks end is told that these were stopped, and not of the reason before.
func TestBatch_CancelledAtItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &script{takes: time.Minute}
		b := &batch.Batch{Jobs: 2, Abort: batch.Abort{Failures: 1}, Plan: check(t, tasks("a", "b", "c"))}
		b.Do = func(ctx context.Context, job *batch.Job) batch.Outcome {
			if job.Task.ID == "a" {
				time.Sleep(time.Millisecond)
				return batch.Outcome{State: batch.Failed}
			}
			return s.do(ctx, job)
		}
		time.AfterFunc(time.Second, cancel)
		sum, err := b.Run(ctx)
		if err != nil || counts(sum) != "done 0, failed 1, skipped 0, left 2" || sum.Stop != batch.Cancelled {
			t.Errorf("%s, stopped by %d: %v", counts(sum), sum.Stop, err)
		}
	})
}

func TestCheck_Mistakes(t *testing.T) {
	for name, tt := range map[string]struct {
		tasks []string
		want  string
	}{
		"DoubledID":         {[]string{"a", "b", "a"}, `memory:3: id "a" is already used by another task`},
		"UnknownDependency": {[]string{"a", "b<c"}, `memory:2: task "b" depends on "c", which does not exist`},
		"Itself":            {[]string{"a<a"}, `memory:1: task "a" depends on itself`},
		"Circle":            {[]string{"x", "a<b", "b<c", "c<a"}, `memory:2: task "a" depends on itself: "a" → "b" → "c" → "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := batch.Check(tasks(tt.tasks...), nil)
			if m, ok := errors.AsType[*batch.Mistake](err); !ok || m.Error() != tt.want {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// What was done is not done again; what is changed is new; what has failed is done again only when that is asked for.
func TestBatch_Continues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	start := func(b *batch.Batch, outcomes map[string][]batch.Outcome, list memorySource) (*script, batch.Summary) {
		t.Helper()
		s := &script{outcomes: outcomes, takes: time.Millisecond}
		b.Jobs, b.Plan, b.Do = 2, check(t, list), s.do
		ledger, err := batch.OpenLedger(path, "tasks")
		if err == nil {
			err = ledger.Load(b.Plan)
		}
		must.OK(t, err)
		b.Ledger = ledger
		sum, err := b.Run(t.Context())
		if err = errors.Join(err, ledger.Close(sum.Stop == batch.NotStopped)); err != nil {
			t.Fatal(err)
		}
		slices.Sort(s.started)
		return s, sum
	}
	first, _ := start(&batch.Batch{}, map[string][]batch.Outcome{"b": {failed}}, tasks("a", "b", "c<b"))
	second, sum := start(&batch.Batch{}, nil, tasks("a", "b", "c<b"))
	if fmt.Sprint(first.started) != "[a b]" || len(second.started) != 0 || counts(sum) != "done 1, failed 1, skipped 1, left 0" {
		t.Errorf("%v, then %v: %s", first.started, second.started, counts(sum))
	}
	changed := tasks("a", "b", "c<b", "d")
	changed[0].Prompt = "something else"
	third, sum := start(&batch.Batch{RetryFailed: true}, nil, changed)
	if fmt.Sprint(third.started) != "[a b c d]" || counts(sum) != "done 4, failed 0, skipped 0, left 0" {
		t.Errorf("%v: %s", third.started, counts(sum))
	}
}

// The time that was waited for a limit says nothing of how long the rest will take.
func TestBatch_ExpectsWithoutPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{takes: time.Minute, outcomes: map[string][]batch.Outcome{"b": {{State: batch.Paused, Until: time.Now().Add(5 * time.Hour)}}}}
		b := &batch.Batch{Plan: check(t, tasks("a", "b", "c", "d")), Jobs: 1}
		var left []time.Duration
		b.Do = func(ctx context.Context, job *batch.Job) batch.Outcome {
			left = append(left, time.Duration(b.Progress().Left*float64(time.Second)).Round(time.Second))
			return s.do(ctx, job)
		}
		if sum, err := b.Run(t.Context()); err != nil || sum.Counts[batch.Done] != 4 {
			t.Errorf("%+v, %v", sum, err)
		}
		// At the start of a, of b, of b again, of c and of d.
		if want := []time.Duration{0, 3 * time.Minute, 6 * time.Minute, 3 * time.Minute, 80 * time.Second}; !slices.Equal(left, want) {
			t.Errorf("%v", left)
		}
	})
}
