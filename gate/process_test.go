//go:build unix

package gate_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// testTimeout is how long anything may take that takes a moment on an idle machine.
const testTimeout = time.Minute

// roleVar makes the test binary another process of those that share a gate; the rest is in dirVar.
const roleVar, dirVar = "GATE_TEST_ROLE", "GATE_TEST_DIR"

// roles are what such a process can do. They say on stdout how far they are, and go on when they read a line.
var roles = map[string]func(*gate.Files, []string){
	"count":  countUp,
	"lock":   keepLocked,
	"write":  keepWriting,
	"enter":  enterAndStay,
	"panic":  enterAndPanic,
	"hammer": hammer,
	"try":    tryOut,
	"slot":   takeSlot,
}

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVar)]; role != nil {
		role(&gate.Files{Dir: os.Getenv(dirVar)}, os.Args[1:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// quick are settings for tests in real time.
var quick = gate.Settings{
	Breaker: breaker.Settings{Failures: 3, Open: 100 * time.Millisecond, MaxOpen: 100 * time.Millisecond, Lease: 400 * time.Millisecond},
	Hold:    50 * time.Millisecond, MaxHold: 100 * time.Millisecond, Answer: 400 * time.Millisecond,
}

// longest is how long the quick settings may keep a call out.
const longest = 400*time.Millisecond + 100*time.Millisecond + 125*time.Millisecond

// process is one that shares a gate.
type process struct {
	t   testing.TB
	cmd *exec.Cmd
	out *bufio.Reader
	in  io.WriteCloser
}

// begin starts a process in a role. It is ended with the test, at the latest.
func begin(t testing.TB, dir, role string, args ...string) *process {
	t.Helper()
	return beginAs(t, nil, dir, role, args...)
}

// beginAs is begin as another user.
func beginAs(t testing.TB, as *syscall.Credential, dir, role string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	if as != nil {
		cmd.Path = "/proc/self/exe" // they may not have access to where the binary is
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	}
	cmd.Env = append(os.Environ(), roleVar+"="+role, dirVar+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	p := &process{t: t, cmd: cmd}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	p.out = bufio.NewReader(out)
	must.OK(t, cmd.Start())
	late := time.AfterFunc(2*testTimeout, p.kill)
	t.Cleanup(func() {
		late.Stop()
		p.kill()
		cmd.Wait()
	})
	return p
}

// says waits for the next line.
func (p *process) says() string {
	p.t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%v said %q: %v", p.cmd.Args, line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (p *process) expect(line string) {
	p.t.Helper()
	if got := p.says(); got != line {
		p.t.Fatalf("%v said %q, want %q", p.cmd.Args, got, line)
	}
}

// proceed lets it go on.
func (p *process) proceed() { io.WriteString(p.in, "\n") }

func (p *process) kill()                     { p.cmd.Process.Kill() }
func (p *process) signal(sig syscall.Signal) { p.cmd.Process.Signal(sig) }

// ends waits for its end.
func (p *process) ends() {
	p.t.Helper()
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("%v: %v", p.cmd.Args, err)
	}
}

// What follows is done by the processes.

var stdin = bufio.NewReader(os.Stdin)

// wait waits until the test lets it go on; if the test is gone, the process ends.
func wait() {
	if _, err := stdin.ReadString('\n'); err != nil {
		os.Exit(0)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	check(err)
	return n
}

// shared is the gate of a process.
func shared(files *gate.Files) *gate.Gate {
	return &gate.Gate{Store: files, Key: "api", Settings: quick, Trouble: func(err error) {
		if !errors.Is(err, gate.ErrLocked) { // that happens on a very busy machine
			check(err)
		}
	}}
}

// withLongLeases is shared with long leases, for tests of many processes on a slow machine.
func withLongLeases(files *gate.Files) *gate.Gate {
	g := shared(files)
	g.Settings.Breaker.Lease, g.Settings.Answer = time.Minute, time.Minute
	return g
}

// inside waits at the gate until it is let in.
func inside(g *gate.Gate, holder string) *gate.Pass {
	for {
		pass, refusal := g.Enter(holder)
		if refusal == nil {
			return pass
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func me(n int) string { return fmt.Sprintf("%d/%d", os.Getpid(), n) }

// countUp makes n updates.
func countUp(files *gate.Files, args []string) {
	fmt.Println("ready")
	wait()
	for range number(args[0]) {
		err := gate.ErrLocked
		for errors.Is(err, gate.ErrLocked) { // a very busy machine
			err = files.Update("api", time.Now(), func(s gate.State) gate.State {
				s.Breaker.Failures++
				return s
			})
		}
		check(err)
	}
}

// keepLocked keeps the lock until it is told to go on.
func keepLocked(files *gate.Files, _ []string) {
	check(files.Update("api", time.Now(), func(s gate.State) gate.State {
		fmt.Println("locked")
		wait()
		return s
	}))
}

// keepWriting writes states of different lengths for ever.
func keepWriting(files *gate.Files, _ []string) {
	fmt.Println("ready")
	for n := 1; ; n++ {
		err := files.Update("api", time.Now(), func(s gate.State) gate.State {
			s.Breaker.Failures = n
			s.Hold.Reason = strings.Repeat("x", n%7*25)
			s.Ramp.Starts = make([]gate.Start, n%11)
			return s
		})
		if !errors.Is(err, gate.ErrLocked) { // a very busy machine
			check(err)
		}
	}
}

// enterAndStay asks once. If it is let in, it stays until it is told to go on, is answered, stays, and succeeds.
func enterAndStay(files *gate.Files, args []string) {
	g := shared(files)
	if len(args) > 0 {
		g = withLongLeases(files)
	}
	fmt.Println("ready")
	wait()
	pass, refusal := g.Enter(me(0))
	if refusal != nil {
		fmt.Println("refused:", refusal.Kind)
		return
	}
	fmt.Println("in")
	wait()
	pass.Answered()
	fmt.Println("answered")
	wait()
	pass.Succeeded()
	fmt.Println("done")
}

func enterAndPanic(files *gate.Files, _ []string) {
	os.Stderr.Close()
	inside(shared(files), me(0))
	fmt.Println("in")
	panic("boom")
}

// takeSlot takes a slot and keeps it.
func takeSlot(files *gate.Files, args []string) {
	_, err := gate.Slots{Dir: files.Dir}.Take("api", number(args[0]), me(0))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("taken by", me(0))
	wait()
}

// tryOut makes two calls at a gate whose store may have trouble, and says what came of it.
func tryOut(files *gate.Files, _ []string) {
	var troubles []string
	g := &gate.Gate{Store: files, Key: "api", Trouble: func(err error) { troubles = append(troubles, err.Error()) }}
	pass, refusal := g.Enter("a")
	if refusal != nil {
		fmt.Println("refused:", refusal.Kind)
		return
	}
	pass.Throttled(time.Hour, "rate_limit of curl")
	_, refusal = g.Enter("b")
	slot, err := gate.Slots{Dir: files.Dir}.Take("api", 1, "a")
	slot.Free()
	fmt.Printf("held: %v, slot: %v, troubles: %q\n", refusal != nil, err == nil, troubles)
	syscall.Exit(0) // without the end of a test with coverage, which has no place for that user to write to
}
