package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/retry"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// A day is a plan, and a script in which one request of so many fails, in all the ways there are, and in whose middle both of GitHub's limits are reached. The
// answer to the first change, which is the third request, is lost.
type day struct {
	seed                  uint64
	epics, stories, tasks int // stories of each epic, tasks of each story
	oneOf                 int
}

func badDay(seed uint64) day {
	if clitest.Full() {
		return day{seed, 1, 10, 9, 20}
	}
	return day{seed, 1, 4, 3, 11} // each call is a process of gh, a tenth of a second of CPU
}

// issues is how many there must be in the end.
func (d day) issues() (epics, stories, tasks int) {
	return d.epics, d.epics * d.stories, d.epics * d.stories * d.tasks
}

func (d day) total() int {
	epics, stories, tasks := d.issues()
	return epics + stories + tasks
}

func (d day) script() string {
	faults := []string{"502", "503", "500", "reset", "lost", "lost(502)", "lost", "drop-mid", "end-mid", "429(retry-after=1)",
		`200(type=UNPROCESSABLE, message="was submitted too quickly")`, `504(content-type=text/html, body="<html>Unicorn!</html>")`}
	random := rand.New(rand.NewPCG(d.seed, 0))
	var steps []string
	fault := 0
	for i := range 7 * d.total() {
		if i%d.oneOf == 0 {
			fault = i + random.IntN(d.oneOf)
		}
		switch i {
		case 2:
			steps = append(steps, "lost")
		case 2 * d.total():
			steps = append(steps, "primary(resets=2s)")
		case 3 * d.total():
			steps = append(steps, "secondary(retry-after=2)")
		case fault:
			steps = append(steps, faults[random.IntN(len(faults))])
		default:
			steps = append(steps, "200")
		}
	}
	return strings.Join(steps, ", ")
}

func start(t *testing.T, script string) (*rehearse.API, []string) {
	t.Helper()
	api, err := rehearse.Start(script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return api, append(os.Environ(), api.Environ()...)
}

// On a bad day of GitHub the whole plan gets there, and each item once.
func TestSync(t *testing.T) {
	days := 1
	if clitest.Full() {
		days = 4
	}
	for n := range uint64(days) {
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			t.Parallel()
			syncOn(t, badDay(n+1))
		})
	}
}

func syncOn(t *testing.T, day day) {
	api, env := start(t, day.script())
	var retries, found atomic.Int64
	client := NewClient()
	client.Path, client.Env, client.Logger = clitest.GH(t), env, slog.New(slog.NewTextHandler(io.Discard, nil))
	client.Runner.State, client.Runner.LimitBuffer = &belay.State{Dir: t.TempDir()}, -1
	// Which of the four workers meets which fault is a matter of chance; so many in a row meet none of them.
	client.Runner.Policy = retry.Policy{MaxRetries: 12, BaseDelay: 100 * time.Millisecond, MaxDelay: 800 * time.Millisecond, Jitter: retry.NoJitter}
	client.Runner.Gate.Settings.Hold = time.Second
	client.Runner.Observe = func(e belay.Event) {
		switch e.(type) {
		case belay.Waiting:
			retries.Add(1)
		case belay.FoundDone:
			found.Add(1)
		}
	}
	s := &Sync{Call: Through(client), Repo: "o/r", Workers: 4}
	began := time.Now()
	if err := s.Run(t.Context(), SamplePlan(day.epics, day.stories, day.tasks)); err != nil {
		t.Error(err)
	}
	faults := 0
	for _, q := range api.Main() {
		if !strings.HasPrefix(q.Step, "200") || strings.Contains(q.Step, "(type") {
			faults++
		}
	}
	t.Logf("%d calls, %d requests, %d faults, %d retries, %d found done, in %v", s.calls.Load(), len(api.Main()), faults, retries.Load(), found.Load(), time.Since(began).Round(time.Second))
	exactlyOnce(t, api, day)
	if int(s.calls.Load()) < 2*day.total() || faults < 10 || found.Load() == 0 {
		t.Error("that proves little")
	}
}

// exactlyOnce checks what has really happened.
func exactlyOnce(t *testing.T, api *rehearse.API, day day) {
	t.Helper()
	titles, told := map[string]int{}, map[string]int{}
	counts := map[string]int{}
	for _, i := range api.GitHub().Issues() {
		titles[i.Title]++
		counts[i.Labels[0]]++
		for _, c := range i.Comments {
			told[c.Body]++
		}
	}
	epics, stories, tasks := day.issues()
	if counts["epic"] != epics || counts["story"] != stories || counts["task"] != tasks || len(titles) != day.total() || len(told) != stories+tasks {
		t.Errorf("there are %v, %d titles, %d comments", counts, len(titles), len(told))
	}
	for _, all := range []map[string]int{titles, told} {
		for what, n := range all {
			if n != 1 {
				t.Errorf("%q is there %d times", what, n)
			}
		}
	}
}

// The same day without Belay: the first fault ends it.
func TestSync_Bare(t *testing.T) {
	t.Parallel()
	day := badDay(1)
	gh := clitest.GH(t) // here, since only the goroutine of a test can skip it
	api, env := start(t, day.script())
	s := &Sync{Repo: "o/r", Workers: 4, Call: func(ctx context.Context, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, gh, args...)
		cmd.Env = env
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr.String())
		}
		return string(out), err
	}}
	if err := s.Run(t.Context(), SamplePlan(day.epics, day.stories, day.tasks)); err == nil {
		t.Error("it worked")
	} else {
		t.Logf("after %d calls: %v", s.calls.Load(), err)
	}
	if n := len(api.GitHub().Issues()); n >= day.total() {
		t.Errorf("%d issues", n)
	}
}

func TestRun_Usage(t *testing.T) {
	for _, args := range [][]string{{}, {"-R", "o/r"}, {"-R", "o/r", "/nowhere.json"}, {"--nope"}} {
		if code := run(args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}

func TestReadPlan(t *testing.T) {
	p, err := ReadPlan(strings.NewReader(`{"epics":[{"title":"a","children":[{"title":"b","body":"c"}]}]}`))
	if err != nil || p.Epics[0].Children[0].Body != "c" {
		t.Errorf("%+v, %v", p, err)
	}
}
