package batch_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// service allows so many calls a minute and so many at once, as a vendor does. It is an [engine.Starter]: each process is one call.
type service struct {
	perMinute, atOnce int
	takes             time.Duration
	hints             bool // it says when to come back

	mu       sync.Mutex
	window   time.Time
	inWindow int
	inside   int
	requests int
	most     int
}

// call is one request: how long to wait, if it is refused.
func (s *service) call() (refused bool, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	now := time.Now()
	if now.Sub(s.window) >= time.Minute {
		s.window, s.inWindow = now, 0
	}
	switch {
	case s.inWindow >= s.perMinute:
		return true, s.window.Add(time.Minute).Sub(now)
	case s.inside >= s.atOnce:
		return true, time.Second
	}
	s.inWindow++
	s.inside++
	s.most = max(s.most, s.inside)
	return false, 0
}

func (s *service) Look(name, dir string) (string, error) { return name, nil }

func (s *service) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	attempt := enginetest.Attempt{Steps: []enginetest.Step{enginetest.Wait(300 * time.Millisecond)}}
	if refused, after := s.call(); refused {
		if !s.hints {
			after = 0
		}
		attempt.Steps = append(attempt.Steps, enginetest.Line(enginetest.Event{Class: verdict.RateLimit, Hint: after}))
		attempt.Code = 1
	} else {
		attempt.Steps = append(attempt.Steps, enginetest.Line(enginetest.Event{Text: "answer"}), enginetest.Wait(s.takes), enginetest.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.inside--
		}))
	}
	return (&enginetest.Script{Attempts: []enginetest.Attempt{attempt}}).Run(spec, started)
}

// A batch finds out by itself how much a service takes that allows 40 calls a minute and 8 at once: it is done in the time that these limits
// leave, and asks hardly more often than it is answered.
func TestBatch_AutoConcurrency(t *testing.T) {
	for name, tt := range map[string]struct {
		takes    time.Duration
		hints    bool
		time     float64 // of the ideal
		requests float64 // a result
	}{
		"ByRate":        {takes: 5 * time.Second, hints: true, time: 1.1, requests: 1.15},
		"ByConcurrency": {takes: 20 * time.Second, hints: true, time: 1.1, requests: 1.15},
		"WithoutHints":  {takes: 5 * time.Second, time: 1.35, requests: 1.15}, // each hold is a guess
	} {
		t.Run(name, func(t *testing.T) {
			if t.Parallel(); name != "ByRate" && os.Getenv("BELAY_TEST_FULL") == "" {
				t.Skip("only in full")
			}
			synctest.Test(t, func(t *testing.T) {
				const tasks = 2000
				s := &service{perMinute: 40, atOnce: 8, takes: tt.takes, hints: tt.hints}
				var gates gate.Memory
				b := &batch.Batch{Plan: planOf(t, tasks), MaxJobs: 64, Do: func(ctx context.Context, job *batch.Job) batch.Outcome {
					r := &engine.Runner{
						Profile:   &enginetest.Agent{Facts: agent.Info{Gate: "api"}},
						Starter:   s,
						Policy:    retry.Policy{MaxWait: retry.None},
						Observe:   observe(job),
						Admission: engine.Admission{Shared: &gates, Gate: belaytype.Gate{Settings: gate.Settings{MaxHold: batch.LongestHold}}},
					}
					prompt := job.Task.Prompt
					res, err := r.Run(ctx, belaytype.Command{Args: []string{"claude", "-p"}, Prompt: &prompt})
					if err != nil {
						return batch.Outcome{State: batch.Failed, Error: err.Error(), Class: res.Verdict.Class}
					}
					return batch.Outcome{State: batch.Done}
				}}
				begun := time.Now()
				sum, err := b.Run(t.Context())
				if err != nil || sum.Counts[batch.Done] != tasks {
					t.Fatalf("%+v %v", sum, err)
				}
				ideal := math.Max(tasks/float64(s.perMinute)*60, tasks*(tt.takes.Seconds()+0.3)/float64(s.atOnce))
				took, asked := time.Since(begun).Seconds()/ideal, float64(s.requests)/tasks
				t.Logf("tried %s: %.3f of the ideal time, %.3f requests a result, at most %d at once", name, took, asked, s.most)
				if took > tt.time || asked > tt.requests {
					t.Errorf("want %.2f and %.2f", tt.time, tt.requests)
				}
			})
		})
	}
}

// observe tells the batch of throttles, as belay batch does.
func observe(job *batch.Job) func(belaytype.Event) {
	return func(e belaytype.Event) {
		switch e := e.(type) {
		case belaytype.Waiting:
			job.Throttled()
			job.Wait(e.Until)
		case belaytype.AtGate:
			if !e.Refusal.Until.IsZero() {
				job.Wait(e.Refusal.Until)
			}
		case belaytype.WaitOver:
			job.Wait(time.Time{})
		}
	}
}

// memorySource are tasks in memory.
type memorySource []batch.Task

func (s memorySource) Name() string                { return "memory" }
func (s memorySource) Columns() ([]string, error)  { return nil, nil }
func (s memorySource) Open() (batch.Reader, error) { return &memoryReader{s}, nil }

type memoryReader struct{ left memorySource }

func (r *memoryReader) Next() (batch.Task, error) {
	if len(r.left) == 0 {
		return batch.Task{}, io.EOF
	}
	t := r.left[0]
	r.left = r.left[1:]
	return t, nil
}

func (r *memoryReader) Skip() error {
	_, err := r.Next()
	return err
}

func (r *memoryReader) Close() error { return nil }

// planOf is a plan of so many tasks.
func planOf(t *testing.T, n int) *batch.Plan {
	t.Helper()
	tasks := make(memorySource, n)
	for i := range tasks {
		tasks[i] = batch.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprint("say ", i), Line: i + 1}
	}
	return check(t, tasks)
}

func check(t *testing.T, tasks memorySource) *batch.Plan {
	t.Helper()
	p, err := batch.Check(tasks, nil)
	must.OK(t, err)
	return p
}

// machine can start so many tasks at a time, and from some time on none at all: other programs have what is needed.
type machine struct {
	mu      sync.Mutex
	room    int
	running int
	most    int
	lacked  int
	taken   time.Time // until then there is no room; zero means never
}

func (m *machine) do(ctx context.Context, _ *batch.Job) batch.Outcome {
	m.mu.Lock()
	if m.running >= m.room || time.Now().Before(m.taken) {
		m.lacked++
		m.mu.Unlock()
		return batch.Outcome{State: batch.Paused, Lacked: true, Error: "too many open files"}
	}
	m.running++
	m.most = max(m.most, m.running)
	m.mu.Unlock()
	time.Sleep(time.Minute)
	m.mu.Lock()
	m.running--
	m.mu.Unlock()
	return batch.Outcome{State: batch.Done}
}

// What is missing to start a task lowers the level, also one that was given, and fails no task.
func TestLevel_Lack(t *testing.T) {
	for name, c := range map[string]struct {
		batch   *batch.Batch
		machine *machine
		stop    batch.StopReason
		done    int
		atLeast int // tasks that ran at a time
		lacked  int // starts in vain, at most
	}{
		"Files":       {&batch.Batch{Jobs: 8}, &machine{room: 3}, batch.NotStopped, 60, 3, 60},
		"One":         {&batch.Batch{Jobs: 8}, &machine{room: 1}, batch.NotStopped, 60, 1, 60},
		"FindsItself": {&batch.Batch{MaxJobs: 32}, &machine{room: 5}, batch.NotStopped, 60, 5, 40},
		"Waits":       {&batch.Batch{Jobs: 8}, &machine{room: 8, taken: time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC)}, batch.NotStopped, 60, 2, 60},
		"MaxWait":     {&batch.Batch{Jobs: 8, NoWait: true, MaxLack: time.Hour}, &machine{room: 8, taken: time.Date(2000, 1, 1, 0, 30, 0, 0, time.UTC)}, batch.NotStopped, 60, 2, 60},
		"TooLong":     {&batch.Batch{Jobs: 8, NoWait: true, MaxLack: time.Hour}, &machine{}, batch.LimitReached, 0, 0, 60},
		"NoWait":      {&batch.Batch{Jobs: 8, NoWait: true}, &machine{}, batch.LimitReached, 0, 0, 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ids []string
				for n := range 60 {
					ids = append(ids, fmt.Sprint(n))
				}
				b := c.batch
				b.Plan, b.Do = check(t, tasks(ids...)), c.machine.do
				sum, err := b.Run(t.Context())
				m := c.machine
				if err != nil || sum.Stop != c.stop || sum.Counts[batch.Done] != c.done || sum.Counts[batch.Failed] != 0 {
					t.Errorf("%+v, %v", sum, err)
				}
				if m.most < c.atLeast || m.lacked == 0 || m.lacked > c.lacked {
					t.Errorf("%d at a time, %d starts in vain", m.most, m.lacked)
				}
			})
		})
	}
}
