//go:build linux

package record_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// shape is one kind of run. %d in its script become numbers of tokens that no other run has.
type shape struct {
	name   string
	script string
	flags  []string
	args   []string
	// signal is sent to belay when the request of that number is under way.
	signal syscall.Signal
	at     int
	// again is a second run in the same place, which goes on with the session.
	again []string
	// lost says that the run ends in a turn of which nothing was delivered, so that its cost is an estimate of what came before.
	lost bool
}

var (
	claudeHi = []string{"claude", "-p", "hi", "--allowedTools", "Bash"}
	codexHi  = []string{"codex", "exec", "--skip-git-repo-check", "hi"}
)

// shapes are runs with every kind of fault, end and resumption. What is cut in the middle charges nothing, because the
// vendors differ in how much of it they tell.
var shapes = []shape{
	{name: "claude", script: "200(in=%d, out=%d)", args: claudeHi},
	{name: "claude throttled", script: "429(retry-after=1), 200(in=%d, out=%d, cache-read=%d)", args: claudeHi},
	{name: "claude tool", script: `tool(bash: "echo x", in=%d, out=%d), 200(in=%d, out=%d)`, args: claudeHi},
	{name: "claude overloaded", script: "529, 500, 200(in=%d, out=%d)", args: claudeHi},
	{name: "claude outlasts inner retries", script: "529x3, 200(in=%d, out=%d)", flags: []string{"--max-retries", "3", "--base-delay", "0.2"}, args: claudeHi},
	{name: "claude much", script: `429(retry-after=1)x2, tool(bash: "echo x", in=%d, out=%d), 529, 200(in=%d, out=%d)`, args: claudeHi},
	{name: "claude reset", script: "reset, 200(in=%d, out=%d)", args: claudeHi},
	{name: "claude dropped", script: `tool(bash: "echo x", in=%d, out=%d), drop-mid(in=0, out=0), 200(in=%d, out=%d)`, args: claudeHi},
	{name: "claude stalls", script: `tool(bash: "echo x", in=%d, out=%d), hang, 200(in=%d, out=%d)`, flags: []string{"--stall-timeout", "30s"}, args: claudeHi},
	{name: "claude interrupted", script: `tool(bash: "echo x", in=%d, out=%d), hang`, args: claudeHi, signal: syscall.SIGINT, at: 2, lost: true},
	{name: "claude killed", script: `tool(bash: "echo x", in=%d, out=%d), hang`, args: claudeHi, signal: syscall.SIGKILL, at: 2, lost: true},
	{name: "claude resumed", script: "200(in=%d, out=%d), 200(in=%d, out=%d)", args: claudeHi, again: []string{"--resume", "last"}},
	{name: "claude refused", script: `401(message="invalid x-api-key")x*`, args: claudeHi},
	{name: "codex", script: "200(in=%d, out=%d)", args: codexHi},
	{name: "codex throttled", script: "429(retry-after=1), 200(in=%d, out=%d)", args: codexHi},
	{name: "codex tool", script: `tool(bash: "echo x", in=%d, out=%d), 200(in=%d, out=%d)`, args: codexHi},
	{name: "codex dropped", script: "drop-mid(in=0), 200(in=%d, out=%d)", args: codexHi},
	{name: "codex bad request", script: `400(message="no")x*`, args: codexHi},
	{name: "codex terminated", script: `tool(bash: "echo x", in=%d, out=%d), hang`, args: codexHi, signal: syscall.SIGTERM, at: 2, lost: true},
	{name: "codex killed", script: `tool(bash: "echo x", in=%d, out=%d), hang`, args: codexHi, signal: syscall.SIGKILL, at: 2, lost: true},
	{name: "codex resumed", script: "200(in=%d, out=%d), 200(in=%d, out=%d)", args: codexHi, again: []string{"--resume", "last"}},
	{name: "gh", script: "502, 200", args: []string{"gh", "api", "user"}},
	{name: "gh lost", script: "200, lost", args: []string{"gh", "issue", "create", "-R", "o/r", "-t", "t", "-b", "b"}, flags: []string{"--verify-effect"}},
	{name: "gh not found", script: "404x*", args: []string{"gh", "api", "nothing"}},
}

// rounds is how often every shape is played: once, or so often that there are as many runs as BELAY_TEST_CLI_RUNS says.
func rounds(t *testing.T) int {
	text := os.Getenv("BELAY_TEST_CLI_RUNS")
	switch {
	case text == "" && clitest.Full():
		return 10
	case text == "":
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("BELAY_TEST_CLI_RUNS=%s is not a number of runs", text)
	}
	return (n + len(shapes) - 1) / len(shapes)
}

// outcome is a run that has ended.
type outcome struct {
	id       string
	code     int
	killed   bool
	lost     bool
	attempts int64
	requests int64
	waited   float64
	cost     *float64
}

// logged is a line of belay log --json.
type logged struct {
	ID       string `json:"id"`
	Attempts int64  `json:"attempts"`
	Requests int64  `json:"requests"`
	WaitMS   int64  `json:"wait_ms"`
	ExitCode *int   `json:"belay_exit_code"`
	Usage    usage  `json:"usage"`
}

// Runs of all three CLIs, several at a time, on one record: what belay stats and belay log say of tokens, requests,
// attempts, waits and exit codes is what the stand-ins have served, the runs have reported, and the clock has shown.
func TestBooks(t *testing.T) {
	h := newHouse(t)
	type run struct {
		shape shape
		n     int
	}
	var plan []run
	for range rounds(t) {
		for i, s := range shapes {
			if clitest.OneOf(4, i+1) || os.Getenv("BELAY_TEST_CLI_RUNS") != "" {
				plan = append(plan, run{s, len(plan)})
			}
		}
	}
	var mu sync.Mutex
	var all []outcome
	var charged usage
	lost := int64(0)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for _, r := range plan {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ended, served := h.play(t, r.shape, r.n)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, ended...)
			charged.add(served)
			if r.shape.lost {
				lost++
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	h.belay(t, "ps", "--reap")

	lines := map[string]logged{}
	for _, line := range strings.Split(strings.TrimSpace(h.belay(t, "log", "--json", "-n", "0")), "\n") {
		var l logged
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		lines[l.ID] = l
	}
	var attempts, requests int64
	var waited float64
	for _, o := range all {
		l, ok := lines[o.id]
		if !ok {
			t.Errorf("%+v is not on record", o)
			continue
		}
		if o.lost && (l.Usage.Cost == nil || *l.Usage.Cost == 0 || !l.Usage.Estimated) {
			t.Errorf("belay log has %v of a run whose last turn is unknown, and no estimate", l.Usage)
		}
		attempts, requests, waited = attempts+l.Attempts, requests+l.Requests, waited+float64(l.WaitMS)/1000
		if o.killed {
			continue
		}
		if l.Attempts != o.attempts || l.Requests != o.requests || math.Abs(float64(l.WaitMS)/1000-o.waited) > 1 || l.ExitCode == nil || *l.ExitCode != o.code {
			t.Errorf("belay log has %+v, the run has %+v", l, o)
		}
		if (l.Usage.Cost == nil) != (o.cost == nil) || o.cost != nil && math.Abs(*l.Usage.Cost-*o.cost) > 1e-9 {
			t.Errorf("belay log has a cost of %v, the run of %v", l.Usage, usage{Cost: o.cost})
		}
	}
	if len(lines) != len(all) {
		t.Errorf("%d runs are on record, want %d", len(lines), len(all))
	}
	got := h.stats(t)
	if u := got.Usage; u.In != charged.In || u.Out != charged.Out || u.Read != charged.Read || u.Create != charged.Create {
		t.Errorf("belay stats has %v, the stand-ins have charged %v", u, charged)
	}
	if got.Invocations != int64(len(all)) || got.Attempts != attempts || got.Requests != requests || math.Abs(float64(got.WaitMS)/1000-waited) > 1 {
		t.Errorf("belay stats has %v, belay log %d runs, %d attempts, %d requests, %.1f s of waits", got, len(all), attempts, requests, waited)
	}
	if got.Estimated < lost {
		t.Errorf("belay stats has %d attempts of estimated cost, want at least %d", got.Estimated, lost)
	}
	t.Logf("%v", got)
	t.Logf("tried %d runs of the real CLIs with %d faults; survived %d", len(all), h.faults.Load(), got.Invocations)
}

// stats are the figures of all runs, which are the same however they are grouped, and the sum of their groups.
func (h *house) stats(t *testing.T) (total figures) {
	t.Helper()
	for i, by := range []string{"day", "profile", "model", "class"} {
		var answer struct {
			Groups []figures
			Total  figures
		}
		must.OK(t, json.Unmarshal([]byte(h.belay(t, "stats", "--json", "--by", by)), &answer))
		var sum figures
		for _, g := range answer.Groups {
			sum.add(g)
		}
		if i == 0 {
			total = answer.Total
		}
		if sum.String() != answer.Total.String() || total.String() != answer.Total.String() {
			t.Errorf("by %s: the groups add up to %v, all is %v, and by day %v", by, sum, answer.Total, total)
		}
	}
	return total
}

// house is where the runs take place: one state directory for all.
type house struct {
	dir, bin string
	env      []string
	faults   atomic.Int64 // that were played: answers that are none, and signals
}

func newHouse(t *testing.T) *house {
	t.Helper()
	claude, codex, gh := clitest.Claude(t, ""), clitest.Codex(t, ""), clitest.GH(t)
	h := &house{dir: t.TempDir()}
	h.bin = filepath.Join(h.dir, "bin")
	must.OK(t, errors.Join(os.Mkdir(h.bin, 0o700), built.Into(h.bin, built.Belay, built.Companion)))
	path := strings.Join([]string{h.bin, filepath.Dir(claude), filepath.Dir(codex), filepath.Dir(gh), os.Getenv("PATH")}, ":")
	h.env = slices.Concat(clitest.Lean, []string{"PATH=" + path, "BELAY_STATE_DIR=" + filepath.Join(h.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(h.dir, "config"),
		"TZ=UTC", "LC_ALL=C.UTF-8"})
	return h
}

// belay runs a command that asks the record.
func (h *house) belay(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(h.bin, "belay"), args...)
	cmd.Env = h.env
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("belay %v: %v", args, err)
	}
	return string(out)
}

// play plays a shape. It returns the runs, and the usage that was delivered.
func (h *house) play(t *testing.T, s shape, n int) (ended []outcome, served usage) {
	place := filepath.Join(h.dir, fmt.Sprint("place", n))
	if err := os.MkdirAll(filepath.Join(place, "work"), 0o700); err != nil {
		t.Error(err)
		return
	}
	var tokens []any
	for i := range strings.Count(s.script, "%d") {
		tokens = append(tokens, 100*n+7*i+11)
	}
	api, err := rehearse.Options{Dir: filepath.Join(place, "api")}.Start(fmt.Sprintf(s.script, tokens...))
	if err != nil {
		t.Error(err)
		return
	}
	defer api.Close()
	ended = append(ended, h.run(t, api, place, "first", s, s.flags))
	if s.again != nil {
		ended = append(ended, h.run(t, api, place, "second", s, slices.Concat(s.flags, s.again)))
	}
	if s.signal != 0 {
		h.faults.Add(1)
	}
	for _, q := range api.Requests() {
		if q.End != rehearse.Whole || q.Status >= 400 {
			h.faults.Add(1)
		}
	}
	for _, q := range api.Main() {
		if q.End == rehearse.Whole {
			served.add(usage{In: int64(q.Usage.Input), Out: int64(q.Usage.Output), Read: int64(q.Usage.CacheRead), Create: int64(q.Usage.CacheCreate)})
		}
	}
	return ended, served
}

// run is one `belay run`.
func (h *house) run(t *testing.T, api *rehearse.API, place, name string, s shape, flags []string) (o outcome) {
	o.lost = s.lost
	before := len(h.asked(api, s))
	file := filepath.Join(place, name+".json")
	// A gate of its own: what one run meets must not affect another here.
	line := slices.Concat([]string{"run", "--result-file", file}, flags, []string{"--"}, s.args)
	cmd := exec.Command(filepath.Join(h.bin, "belay"), line...)
	cmd.Dir, cmd.Env = filepath.Join(place, "work"), slices.Concat(h.env, api.Environ())
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return o
	}
	late := time.AfterFunc(5*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	if s.signal != 0 {
		o.killed = s.signal == syscall.SIGKILL
		o.id = h.idOf(t, cmd.Process.Pid)
		for end := time.Now().Add(3 * time.Minute); len(api.Main()) < s.at && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond) // what was answered before has been taken note of
		cmd.Process.Signal(s.signal)
	}
	cmd.Wait()
	if o.killed {
		return o
	}
	o.code = cmd.ProcessState.ExitCode()
	var result struct {
		ID       string
		Attempts int64
		Requests int64
		Waited   float64 `json:"total_wait_time"`
		ExitCode int     `json:"exit_code"`
		Usage    usage
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &result)
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", s.name, err, stderr.String())
		return o
	}
	o.id, o.attempts, o.requests, o.waited, o.cost = result.ID, result.Attempts, result.Requests, result.Waited, result.Usage.Cost
	if result.ExitCode != o.code {
		t.Errorf("%s: exit code %d, and the result says %d", s.name, o.code, result.ExitCode)
	}
	asked := slices.DeleteFunc(h.asked(api, s)[before:], func(q rehearse.Request) bool {
		return q.End == rehearse.ClientLeft || q.End == rehearse.UnderWay // nothing was served, and the CLI has told nothing
	})
	var served usage
	for _, q := range asked {
		if q.End == rehearse.Whole {
			served.add(usage{In: int64(q.Usage.Input), Out: int64(q.Usage.Output)})
		}
	}
	if result.Usage.In != served.In || result.Usage.Out != served.Out {
		t.Errorf("%s: the result has %v, the stand-in has served %v\n%s", s.name, result.Usage, served, stderr.String())
	}
	if o.requests != int64(len(asked)) {
		t.Errorf("%s: the result has %d requests, the stand-in %d\n%s", s.name, o.requests, len(asked), stderr.String())
	}
	return o
}

// asked are the requests that count: agents ask for other things too, and do not tell.
func (h *house) asked(api *rehearse.API, s shape) []rehearse.Request {
	if s.args[0] == "gh" {
		return api.Requests()
	}
	return api.Main()
}

// idOf finds the id of a run under way by the process that supervises it.
func (h *house) idOf(t *testing.T, pid int) string {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(h.dir, "state", "runs", fmt.Sprintf("*.%d.*", pid)))
		for _, f := range files {
			if parts := strings.Split(filepath.Base(f), "."); len(parts) == 4 {
				return parts[3]
			}
		}
	}
	t.Errorf("no record of the run of process %d", pid)
	return ""
}
