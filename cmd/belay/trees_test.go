//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// Whatever a command starts, nothing of it is left when belay has ended it, however that comes about: every shape of tree with
// every ending of run, hook and mcp, of a batch, of a detached run and of a check; in make test with every thirteenth pair of run, and fewer
// of the others, which start a command as run does. BELAY_TEST_TREE_ROUNDS=10 plays each ten times. TestTrees_Fleet is the same for jobs of a fleet.
func TestTrees(t *testing.T) {
	// Most of the time each tree waits.
	playTrees(t, 24, "", map[string]int{"run": 13, "hook": 17, "mcp": 17, "batch": 23, "detached": 23, "check": 23})
}

// playTrees plays the trees of some hosts, so many at the same time. In make test it is one of so many pairs of shape and ending.
func playTrees(t *testing.T, atOnce int, dsn string, hosts map[string]int) {
	n := faulttest.Count(t, "BELAY_TEST_TREE_ROUNDS", 1)
	all := rounds(t) >= 10
	begin := time.Now()
	cells := make(chan *treeCell)
	base := t.TempDir()
	var mu sync.Mutex
	tried, stood, survived := map[string]int{}, 0, 0
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for c := range cells {
				left, err := c.play()
				os.RemoveAll(c.dir)
				mu.Lock()
				tried[c.host]++
				if c.stands {
					stood++
				}
				if survived += len(left); err != nil || len(left) > 0 {
					t.Errorf("%s: %v; left are %v\n%s", c.name, err, left, c.said)
				}
				mu.Unlock()
			}
		})
	}
	for round := range n {
		// What takes longest comes first.
		for i, shape := range slices.Backward(treeShapes) {
			for host, one := range hosts {
				endings := treeEndings[host]
				for j, ending := range endings {
					if (i*(len(endings)|1)+j)%one != 0 && !all {
						continue
					}
					name := fmt.Sprintf("%s-%s-%s", host, shape.name, ending.name)
					if why := impossible(shape, ending); why != "" {
						if round == 0 {
							t.Logf("%s cannot be: %s", name, why)
						}
						continue
					}
					cells <- &treeCell{host: host, shape: shape, ending: ending, name: name, dsn: dsn, dir: filepath.Join(base, fmt.Sprintf("%s-%d", name, round))}
				}
			}
		}
	}
	close(cells)
	workers.Wait()
	t.Logf("%d shapes, tried %v; %d stood when they were ended; %d processes survived; %v", len(treeShapes), tried, stood, survived, time.Since(begin).Round(time.Second/10))
}

// treeCell is one tree and its end.
type treeCell struct {
	name, host, dir string
	dsn             string // of the fleet's PostgreSQL
	shape           treeShape
	ending          treeEnding

	cmd      *exec.Cmd
	worker   *exec.Cmd // of a fleet; cmd is the batch then
	owner    int       // the pid of a detached run's belay
	up, told *os.File  // pipes: pids of the tree; what it waits for
	input    *os.File  // what the client of an MCP server writes to, or a terminal
	output   *bufio.Reader
	pids     map[int]string // and when each was started
	stands   bool           // the tree stood before it was ended
	late     bool
	code     int // that belay has ended with
	said     []byte
}

// play starts the tree, ends it, and returns what is left of it once belay has ended.
func (c *treeCell) play() (left []proc, err error) {
	for _, dir := range []string{c.dir, filepath.Join(c.dir, "home"), filepath.Join(c.dir, ".tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(c.dir, "deep.sh"), []byte(deepScript), 0o600); err != nil {
		return nil, err
	}
	if c.up, err = makePipe(filepath.Join(c.dir, "up")); err != nil {
		return nil, err
	}
	defer c.up.Close()
	if c.told, err = makePipe(filepath.Join(c.dir, "go")); err != nil {
		return nil, err
	}
	defer c.told.Close()
	if c.host == "fleet" {
		if err := c.startWorker(); err != nil {
			return nil, err
		}
		defer c.endWorker()
	}
	if err := c.start(); err != nil {
		return nil, err
	}
	late := time.AfterFunc(2*testTimeout, func() {
		c.late = true
		c.kill()
		c.up.SetReadDeadline(time.Now())
	})
	reported := make(chan error, 1)
	go func() { reported <- c.report() }()
	if c.ending.end != nil {
		if err = <-reported; err == nil {
			c.ending.end(c)
		}
	}
	c.await()
	if c.ending.end == nil {
		c.up.SetReadDeadline(time.Now())
		c.stands = <-reported == nil
	}
	late.Stop()
	if c.ending.name == "KILL" && err == nil {
		err = c.reap()
	}
	if c.ending.code != 0 && err == nil && c.code != c.ending.code {
		err = fmt.Errorf("belay ended with %d, want %d", c.code, c.ending.code)
	}
	left = c.living()
	for _, p := range left {
		unix.Kill(p.pid, unix.SIGKILL)
	}
	text, _ := os.ReadFile(filepath.Join(c.dir, "stderr"))
	c.said = append(c.said, text...)
	if c.input != nil {
		c.input.Close()
	}
	if c.late {
		err = fmt.Errorf("belay did not end within %v", 2*testTimeout)
	}
	return left, err
}

// makePipe makes a named pipe that can be opened without anyone at its other end, and read with a deadline.
func makePipe(path string) (*os.File, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK, 0)
}

func (c *treeCell) command(args ...string) *exec.Cmd {
	env := environment(binDir, c.dir, c.name)
	cmd := exec.Command(filepath.Join(binDir, "belay-plain"), args...)
	cmd.Dir, cmd.Env = c.dir, append(env, "BELAY_FLEET_DSN="+c.dsn)
	return cmd
}

func (c *treeCell) start() error {
	script := c.shape.command(c.ending.then)
	if c.host == "mcp" { // a server that was started again has no tree, and ends with its client
		script = "[ -e begun ] && exec cat > /dev/null\n: > begun\n" + script
	}
	args := append(append([]string{c.host}, c.ending.flags...), "--", "sh", "-c", script)
	switch c.host {
	case "batch": // with another task beside it, whose end is none of the tree's
		other := stay
		if c.ending.then == untilTold+`exit 0` {
			other = "exit 0"
		}
		if err := os.WriteFile(filepath.Join(c.dir, "tasks"), []byte("tree\nother\n"), 0o600); err != nil {
			return err
		}
		args = append(append([]string{"batch", "-j2"}, c.ending.flags...), "tasks", "--", "sh", "-c", `[ "$0" = other ] && `+other+"\n"+script, "{}")
	case "fleet":
		if err := os.WriteFile(filepath.Join(c.dir, "tasks"), []byte("tree\n"), 0o600); err != nil {
			return err
		}
		args = append(append([]string{"batch", "--fleet", "--needs=" + filepath.Base(c.dir), "--cwd=" + c.dir}, c.ending.flags...), "tasks", "--", "sh", "-c", script, "{}")
	case "check":
		args = append(append([]string{"run", "--check", script}, c.ending.flags...), "--", "true")
	case "detached":
		args[0] = "run"
		args = slices.Insert(args, 1, "--detach")
	}
	c.cmd = c.command(args...)
	stderr, err := os.Create(filepath.Join(c.dir, "stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close()
	c.cmd.Stderr = stderr
	if c.ending.pty {
		c.input, err = pty.Start(c.cmd)
		if err == nil {
			go io.Copy(io.Discard, c.input)
		}
		return err
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	c.cmd.Stdin, c.input = stdin, w
	switch c.host {
	case "mcp":
	case "detached":
		c.cmd.Stdin = nil
		if err := c.cmd.Run(); err != nil {
			return err
		}
		c.owner, _ = c.record("state")
		return nil
	default:
		return c.cmd.Start()
	}
	r, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdout.Close()
	c.cmd.Stdout, c.output = stdout, bufio.NewReader(r)
	return c.cmd.Start()
}

// record is what the name of the run's record in a state directory says: the pid of its belay, and its id.
func (c *treeCell) record(state string) (pid int, id string) {
	names, _ := filepath.Glob(filepath.Join(c.dir, state, "runs", "*"))
	for _, name := range names {
		if part := strings.Split(filepath.Base(name), "."); len(part) == 4 {
			pid, _ = strconv.Atoi(part[1])
			return pid, part[3]
		}
	}
	return 0, ""
}

// await waits for the end of belay.
func (c *treeCell) await() {
	if c.host != "detached" {
		c.code = shellCode(c.cmd.Wait())
		return
	}
	within(2*testTimeout, func() bool { return c.owner == 0 || startOf(c.owner) == "" })
}

// report reads the pids of the tree until all of it stands.
func (c *treeCell) report() error {
	c.pids = map[int]string{}
	lines := bufio.NewReader(c.up)
	for range c.shape.n {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("the tree does not stand: %w", err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(line))
		c.pids[pid] = startOf(pid)
	}
	c.stands = true
	return nil
}

// startOf is when a process was started, as the system counts; empty if there is none.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if f[0] == "Z" || f[0] == "X" {
		return ""
	}
	return f[19]
}

// living is what is left of the tree: by the pids that were told, and by the directory.
func (c *treeCell) living() []proc {
	left := inside(c.dir)
	for pid, start := range c.pids {
		if start != "" && startOf(pid) == start && !slices.ContainsFunc(left, func(p proc) bool { return p.pid == pid }) {
			left = append(left, procOf(fmt.Sprintf("/proc/%d", pid)))
		}
	}
	return left
}

// The ways to end it.

func (c *treeCell) tell() { io.WriteString(c.told, "told\n") }

func (c *treeCell) leave() { c.input.Close() }

func (c *treeCell) tellAndLeave() {
	c.tell()
	c.leave()
}

// tellAndWatch leaves once belay has ended what it was told to.
func (c *treeCell) tellAndWatch() {
	c.tell()
	within(testTimeout, func() bool {
		for pid, start := range c.pids {
			if start != "" && startOf(pid) == start {
				return false
			}
		}
		return true
	})
	c.leave()
}

// askAndLeave asks something that is never answered by the server, and leaves when belay has done so.
func (c *treeCell) askAndLeave() {
	io.WriteString(c.input, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n")
	c.output.ReadString('\n')
	c.leave()
}

// ctrlC types Ctrl-C when the command has settled. A dash that is interrupted while it starts a child acts on it only when that
// child ends, with belay or without: of 1,500 that were interrupted as soon as their tree stood, five went on.
func (c *treeCell) ctrlC() {
	within(testTimeout, func() bool {
		return slices.ContainsFunc(inside(c.dir), func(p proc) bool { return p.args == stay })
	})
	io.WriteString(c.input, ctrlC)
}

func (c *treeCell) signal(sig unix.Signal) {
	if c.owner > 0 {
		unix.Kill(c.owner, sig)
		return
	}
	c.cmd.Process.Signal(sig)
}

func (c *treeCell) kill() { c.signal(unix.SIGKILL) }

// signalGroup signals belay and what it has left in its process group, the command itself, as timeout and CI do.
func (c *treeCell) signalGroup() { unix.Kill(-c.cmd.Process.Pid, unix.SIGTERM) }

// cancel is belay cancel.
func (c *treeCell) cancel() {
	_, id := c.record("state")
	out, _ := c.command("cancel", id).CombinedOutput()
	c.said = append(c.said, out...)
}

// reap is belay ps --reap, once.
func (c *treeCell) reap() error {
	ps := c.command("ps", "--reap")
	if c.host == "fleet" {
		ps = c.atWorker("ps", "--reap")
	}
	out, err := ps.CombinedOutput()
	c.said = append(c.said, out...)
	return err
}

func signalled(name string) func(*treeCell) {
	return func(c *treeCell) { c.signal(unix.SignalNum("SIG" + name)) }
}
