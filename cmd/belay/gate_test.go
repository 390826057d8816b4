//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// getVar makes this binary a client that gets the address in it, where there is no curl.
const getVar = "E2E_GET"

func init() {
	if address := os.Getenv(getVar); address != "" {
		os.Exit(get(address))
	}
}

// get does what curl -sS -f -D /dev/stderr does.
func get(address string) int {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 7
	}
	fmt.Fprintf(conn, "GET / HTTP/1.0\r\n\r\n")
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 52
	}
	fmt.Fprintln(os.Stderr, r.Proto, r.Status)
	r.Header.Write(os.Stderr)
	if r.StatusCode >= 400 {
		fmt.Fprintf(os.Stderr, "The requested URL returned error: %d\n", r.StatusCode)
		return 22
	}
	io.Copy(os.Stdout, r.Body)
	return 0
}

// getter is the command that gets an address.
func getter(address string) []string {
	if curl, err := exec.LookPath("curl"); err == nil {
		return []string{curl, "-sS", "-f", "--max-time", "30", "-D", "/dev/stderr", "http://" + address + "/"}
	}
	return []string{"env", getVar + "=" + address, os.Args[0]}
}

// limited is a service that answers so many requests in each window, and refuses the rest.
type limited struct {
	limit  int
	window time.Duration
	hint   string // the form of Retry-After: "seconds", "date" or none

	mu                sync.Mutex
	until             time.Time
	taken             int
	requests, refused int
}

func (l *limited) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !now.Before(l.until) { // a window begins with a request
		l.until, l.taken = now.Add(l.window), 0
	}
	l.requests++
	if l.taken < l.limit {
		l.taken++
		fmt.Fprintln(w, "ok")
		return
	}
	l.refused++
	switch l.hint { // a whole second, and never too early
	case "seconds":
		w.Header().Set("Retry-After", strconv.Itoa(int(l.until.Sub(now)/time.Second)+1))
	case "date":
		w.Header().Set("Retry-After", l.until.Add(time.Second).UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(http.StatusTooManyRequests)
}

// serve puts a service on loopback.
func serve(t *testing.T, h http.Handler) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// A fleet of twenty processes, each with three calls to make one after the other, at a service that takes twenty in a
// window. Each alone they learn of the limit one by one; with a gate, one of them learns it for all.
func TestGate_Fleet(t *testing.T) {
	t.Parallel()
	for hint, window := range map[string]time.Duration{
		"seconds": 6 * time.Second,
		"date":    6 * time.Second,
		"none":    4 * time.Second, // less than the five seconds of a hold, as a minute is less than the sixty of several
	} {
		t.Run("RetryAfter="+hint, func(t *testing.T) {
			if hint == "date" && !clitest.Full() {
				t.Skip("only with BELAY_TEST_FULL=1: how a date is read is a test of its own")
			}
			t.Parallel()
			gated := &limited{limit: 20, window: window, hint: hint}
			alone := &limited{limit: 20, window: window, hint: hint}
			loops := &limited{limit: 20, window: window, hint: hint}
			var all sync.WaitGroup
			all.Go(func() { fleet(t, gated, "belay-plain", "--gate", "api") })
			if clitest.Full() { // TestFleet of package gate compares them in fake time, and these are many processes
				all.Go(func() { fleet(t, loops, "sh") })
				all.Go(func() { fleet(t, alone, "belay-plain") })
			}
			all.Wait()
			t.Logf("20 processes × 3 calls, 20 in %v, Retry-After %s: one gate %v; belay, each alone %v; a shell loop, each alone %v", window, hint, gated, alone, loops)
			if gated.requests > 120 { // all twenty may be on their way when the first is refused, in each of the three windows
				t.Errorf("%d requests for 60 results", gated.requests)
			}
			// A machine too slow for twenty calls in a window learns of no limit, and the test proves nothing.
			const pressed = 25
			if alone.refused >= pressed && gated.refused >= alone.refused || loops.refused >= pressed && 2*gated.refused > loops.refused {
				t.Errorf("with a gate %v, without %v, in a loop %v", gated, alone, loops)
			}
		})
	}
}

// String is what it has been asked.
func (l *limited) String() string {
	return fmt.Sprintf("%d requests, %d refused", l.requests, l.refused)
}

// fleet is twenty processes with three calls each, one after the other, none of which may be lost: by belay run, or, as
// people do without, by a loop of the shell.
func fleet(t *testing.T, service *limited, name string, flags ...string) {
	r := newRun(t, len(flags))
	get := getter(serve(t, service))
	args := append([]string{"run", "--quiet", "--retry-on", "error: 429"}, flags...)
	args = append(append(args, "--"), get...)
	if name == "sh" {
		args = append([]string{"-c", `until "$0" "$@" 2>/dev/null; do sleep 1; done`}, get...)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 3 {
				cmd := r.command(name, args...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				if out, err := cmd.Output(); err != nil || string(out) != "ok\n" {
					t.Errorf("lost: %q, %v\n%s", out, err, &stderr)
				}
			}
		})
	}
	all.Wait()
}

// gates runs belay gates.
func (r *run) gates(args ...string) string {
	r.t.Helper()
	out, err := r.command("belay", append([]string{"gates"}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Errorf("belay gates %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// job starts belay run in the background, with its stderr in a file.
func (r *run) job(name string, args ...string) *job {
	r.t.Helper()
	stderr, err := os.Create(filepath.Join(r.dir, name+".err"))
	must.OK(r.t, err)
	defer stderr.Close()
	cmd := r.command("belay", append([]string{"run"}, args...)...)
	cmd.Stderr = stderr
	must.OK(r.t, cmd.Start())
	j := &job{cmd: cmd, done: make(chan struct{})}
	go func() {
		j.code = shellCode(cmd.Wait())
		close(j.done)
	}()
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		<-j.done
	})
	return j
}

func (r *run) file(name string) string {
	data, _ := os.ReadFile(filepath.Join(r.dir, name))
	return string(data)
}

// ends waits for the end of a job.
func (j *job) ends(t *testing.T, code int) {
	t.Helper()
	select {
	case <-j.done:
	case <-time.After(testTimeout):
		t.Fatalf("%v has not ended within %v", j.cmd.Args, testTimeout)
	}
	if j.code != code {
		t.Errorf("%v: exit code %d, want %d", j.cmd.Args, j.code, code)
	}
}

// Whatever ends a hold wakes all waiters, within a second as a rule, though they sleep most of the time.
func TestGate_WaitersAreWoken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hold string
		end  func(r *run)
		took time.Duration // from that end until it may start
	}{
		"Reset":       {"1h", func(r *run) { r.gates("reset", "api") }, 0},
		"ResetAll":    {"1h", func(r *run) { r.gates("reset", "--all") }, 0},
		"ShorterHold": {"1h", func(r *run) { r.gates("hold", "api", "--until", "1s") }, time.Second},
		"EndOfHold":   {"6s", func(*run) {}, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			begun := time.Now()
			r.gates("hold", "api", "--until", tt.hold, "--reason", "maintenance")
			waiter := r.job("waiter", "--gate", "api", "--max-wait", "2h", "--", "touch", "started")
			eventually(t, "it says that it waits", func() bool { return strings.Contains(r.file("waiter.err"), "(maintenance); waiting") })
			if tt.hold == "1h" {
				begun = time.Now()
			}
			tt.end(r)
			waiter.ends(t, 0)
			late := time.Since(begun) - tt.took
			t.Logf("it ended %v after it could have started", late)
			if late < 0 {
				t.Errorf("it ended %v before it could have started", -late)
			}
		})
	}
}

func TestGate_KilledHolderOfASlot(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	holder := r.job("holder", "--gate", "api", "--max-parallel", "1", "--", "sh", "-c", "echo > holds; exec sleep 300")
	eventually(t, "it runs", func() bool { return r.file("holds") != "" })
	waiter := r.job("waiter", "--gate", "api", "--max-parallel", "1", "--", "touch", "started")
	eventually(t, "the other waits", func() bool { return strings.Contains(r.file("waiter.err"), "gate api is full ") })
	holder.cmd.Process.Kill()
	begun := time.Now()
	waiter.ends(t, 0)
	t.Logf("started %v after the holder was killed", time.Since(begun))
}

// A scope has one run at a time, and a run that is killed gives it up.
func TestGate_KilledHolderOfAScope(t *testing.T) {
	t.Parallel()
	for _, busy := range []string{"wait", "replace"} {
		t.Run(busy, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			holder := r.job("holder", "--scope", "deploy", "--", "sh", "-c", "echo > holds; exec sleep 300")
			eventually(t, "it runs", func() bool { return r.file("holds") != "" })
			holder.cmd.Process.Signal(unix.SIGSTOP) // so that it cannot be asked to go
			waiter := r.job("waiter", "--scope", "deploy", "--on-busy", busy, "--", "touch", "started")
			eventually(t, "the other waits", func() bool { return strings.Contains(r.file("waiter.err"), "scope deploy is taken by run ") })
			holder.cmd.Process.Kill()
			waiter.ends(t, 0)
			if !within(testTimeout, func() bool { _, err := os.Stat(filepath.Join(r.dir, "started")); return err == nil }) {
				t.Error("it has not run")
			}
		})
	}
}

// Fifty runs that wait for an hour cost less than a hundredth of a core together. It is a part of make soak.
func TestGate_SleepersCostLittle(t *testing.T) {
	if os.Getenv("BELAY_TEST_SOAK") == "" {
		t.Skip("takes 50 processes and six seconds")
	}
	r := newRun(t, 0)
	r.gates("hold", "api", "--until", "1h")
	var sleepers []*exec.Cmd
	for range 50 {
		cmd := r.command("belay-plain", "run", "--gate", "api", "--max-wait", "2h", "--quiet", "--", "true")
		must.OK(t, cmd.Start())
		sleepers = append(sleepers, cmd)
		t.Cleanup(func() { cmd.Wait() })
		t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM) })
	}
	eventually(t, "all wait", func() bool { return strings.Contains(r.gates(), " 50 ") })
	used := func() (sum time.Duration) {
		for _, cmd := range sleepers {
			sum += cpuTime(t, cmd.Process.Pid)
		}
		return sum
	}
	before, begun := used(), time.Now()
	time.Sleep(6 * time.Second)
	cost := (used() - before).Seconds() / time.Since(begun).Seconds()
	t.Logf("tried 50 runs that wait: they use %.2f %% of a core", 100*cost)
	if cost > 0.01 {
		t.Errorf("50 sleepers use %.2f %% of a core", 100*cost)
	}
}

// cpuTime is what all threads of a process have used. The times in /proc/<pid>/stat are too coarse for processes that sleep.
func cpuTime(t *testing.T, pid int) (sum time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range threads {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		must.OK(t, err)
		sum += time.Duration(ns)
	}
	if sum == 0 {
		t.Skip("this kernel does not say what a thread has used")
	}
	return sum
}
