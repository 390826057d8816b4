//go:build unix

package jobs_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/internal/version"
)

var (
	building sync.Once
	bin      string
	buildErr error
)

func TestMain(m *testing.M) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		flag.Set("test.parallel", "5") // most of the time they wait for a lease to end
	}
	defer os.RemoveAll(bin)
	fleettest.Main(m)
}

// belay is the executable, with belayd beside it.
func belay(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("BELAY_TEST_BIN"); dir != "" {
		return filepath.Join(dir, "belay")
	}
	building.Do(func() {
		if bin, buildErr = os.MkdirTemp("", "belay-jobs-"); buildErr != nil {
			return
		}
		buildErr = built.Into(bin, built.Program{Package: "cmd/belay", Clock: true}, built.Program{Package: "cmd/belayd", Clock: true})
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return filepath.Join(bin, "belay")
}

// machine is a state directory with its own network to PostgreSQL.
type machine struct {
	t    testing.TB
	name string
	dir  string
	net  *fleettest.Forwarder
	dsn  string
	more []string // of the environment

	mu  sync.Mutex
	cmd *exec.Cmd
	err *lockedBuffer
}

// lockedBuffer takes what several processes say.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newMachine(t testing.TB, name, dsn string) *machine {
	m := &machine{t: t, name: name, dir: t.TempDir(), net: fleettest.Forward(t, dsn), err: &lockedBuffer{}}
	m.dsn = m.net.DSN()
	for _, dir := range []string{"home", "config/belay", "state"} {
		must.OK(t, os.MkdirAll(filepath.Join(m.dir, dir), 0o700))
	}
	m.allow(`["generic"]`)
	return m
}

// pace makes the leases of this machine so many times shorter. All machines of a test need the same.
func (m *machine) pace(n int) { m.more = append(m.more, fmt.Sprintf("BELAY_TEST_FLEET_PACE=%d", n)) }

// allow says what jobs may do on this machine.
func (m *machine) allow(list string) {
	must.OK(m.t, os.WriteFile(filepath.Join(m.dir, "config/belay/config.toml"), []byte("[fleet]\nallow = "+list+"\n"), 0o600))
}

func (m *machine) env() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(m.dir, "home"), "XDG_CONFIG_HOME=" + filepath.Join(m.dir, "config"), "BELAY_STATE_DIR=" + filepath.Join(m.dir, "state"),
		"BELAY_FLEET_DSN=" + m.dsn, "BELAY_FOLD=off", "LC_ALL=C.UTF-8", "GORACE=" + os.Getenv("GORACE"), "TMPDIR=" + m.dir}, m.more...)
}

// command is a call of belay on this machine.
func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.Command(belay(m.t), args...)
	cmd.Env, cmd.Dir = m.env(), m.dir
	return cmd
}

// call is a call of belay that goes on while the test does.
type call struct {
	t    testing.TB
	cmd  *exec.Cmd
	out  *lockedBuffer // all that it says
	late *time.Timer
}

// start calls belay.
func (m *machine) start(args ...string) *call {
	m.t.Helper()
	c := &call{t: m.t, cmd: m.command(args...), out: &lockedBuffer{}}
	c.cmd.Stdout, c.cmd.Stderr = c.out, c.out
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.OK(m.t, c.cmd.Start())
	c.late = time.AfterFunc(2*patience, func() { c.cmd.Process.Signal(syscall.SIGQUIT) })
	return c
}

// wait returns what the call has said, and its exit code.
func (c *call) wait() (string, int) {
	c.cmd.Wait()
	c.late.Stop()
	return c.out.String(), c.cmd.ProcessState.ExitCode()
}

// kill ends the call at once.
func (c *call) kill() {
	c.cmd.Process.Kill()
	c.wait()
}

// says waits until the call has said something.
func (c *call) says(words string) {
	c.t.Helper()
	if !within(patience, func() bool { return strings.Contains(c.out.String(), words) }) {
		c.t.Fatalf("it does not say %q: %s", words, c.out)
	}
}

// run calls belay, and returns what it says and its exit code.
func (m *machine) run(args ...string) (string, int) {
	m.t.Helper()
	return m.start(args...).wait()
}

// work starts a worker.
func (m *machine) work(n int, flags ...string) {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	path := belay(m.t)
	cmd := exec.Command(path+"d", append([]string{"--for", version.Pair(), "--belay", path, "fleet join", "--name=" + m.name, fmt.Sprintf("--workers=%d", n)}, append(flags, "--")...)...)
	cmd.Env, cmd.Dir, cmd.Stderr = m.env(), m.dir, m.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.OK(m.t, cmd.Start())
	m.cmd = cmd
	m.t.Cleanup(func() { m.signal(syscall.SIGCONT); m.stop(syscall.SIGKILL) })
}

// says waits until the worker has said something.
func (m *machine) says(words string) {
	m.t.Helper()
	if !within(patience, func() bool { return strings.Contains(m.err.String(), words) }) {
		m.t.Fatalf("%s does not say %q: %s", m.name, words, m.err)
	}
}

func (m *machine) signal(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd != nil {
		m.cmd.Process.Signal(sig)
	}
}

// stop ends the worker.
func (m *machine) stop(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return
	}
	m.cmd.Process.Signal(sig)
	m.cmd.Wait()
	m.cmd = nil
}

// line is a line of the results.
type line struct {
	Task, State, Begun, Machine, Error, Stderr string
	Tries                                      int
	Result                                     string
	Success                                    bool
	Cost                                       float64 `json:"cost_usd"`
}

func readResults(t testing.TB, path string) (list []line) {
	t.Helper()
	eachResult(t, path, func(l line) { list = append(list, l) })
	return list
}

// eachResult reads results one by one: together they may be larger than memory.
func eachResult(t testing.TB, path string, each func(line)) {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	for in := json.NewDecoder(f); ; {
		var l line
		if err := in.Decode(&l); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, path)
		}
		each(l)
	}
}

// patience is how long a test waits for what happens at once on a machine that has nothing else to do.
const patience = 2 * time.Minute

// within waits until something holds. It looks less and less often, since a look may be a process or a connection.
func within(d time.Duration, holds func() bool) bool {
	for deadline, pause := time.Now().Add(d), 10*time.Millisecond; ; pause = min(2*pause, 320*time.Millisecond) {
		if holds() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}
