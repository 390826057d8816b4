//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// What TestTrees says holds for jobs of a fleet, on the machine that works on them; in make test with every 23rd pair, among which each ending is once.
func TestTrees_Fleet(t *testing.T) {
	t.Parallel()
	playTrees(t, 8, fleettest.Database(t), map[string]int{"fleet": 23})
}

// atWorker is a call of belay on the machine that works: it has a state directory of its own.
func (c *treeCell) atWorker(args ...string) *exec.Cmd {
	cmd := c.command(args...)
	cmd.Dir = filepath.Join(c.dir, "worker") // so that it is not taken for a part of the tree
	cmd.Env = append(cmd.Env, "BELAY_STATE_DIR="+filepath.Join(cmd.Dir, "state"))
	return cmd
}

// startWorker starts a machine that works on the job of this cell, and on no other.
func (c *treeCell) startWorker() error {
	name := filepath.Base(c.dir)
	c.worker = c.atWorker("fleet", "join", "--workers=1", "--allow=generic,"+c.dir, "--name="+name, "--label="+name)
	if err := os.Mkdir(c.worker.Dir, 0o700); err != nil {
		return err
	}
	stderr, err := os.Create(filepath.Join(c.worker.Dir, "stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close()
	c.worker.Stderr = stderr
	return c.worker.Start()
}

// endWorker ends the machine when all is over.
func (c *treeCell) endWorker() {
	c.worker.Process.Kill()
	c.worker.Wait()
	text, _ := os.ReadFile(filepath.Join(c.worker.Dir, "stderr"))
	c.said = append(c.said, text...)
}

// interruptTwice has the batch leave at once. The machine learns that the job was stopped, and stays.
func (c *treeCell) interruptTwice() {
	_, ended := c.run()
	within(testTimeout, func() bool {
		c.signal(unix.SIGINT)
		return startOf(c.cmd.Process.Pid) == ""
	})
	within(testTimeout, ended)
}

// workerLeaves has the machine leave the fleet. No other can work on the job, so the batch is ended.
func (c *treeCell) workerLeaves() {
	c.worker.Process.Signal(unix.SIGTERM)
	c.worker.Wait()
	c.killBatch()
}

// killWorker kills the machine. The belay run of the job hears of it, and ends the tree.
func (c *treeCell) killWorker() {
	_, ended := c.run()
	c.worker.Process.Kill()
	within(testTimeout, ended)
	c.killBatch()
}

// killWorkerAndRun kills the belay run of the job too.
func (c *treeCell) killWorkerAndRun() {
	pid, ended := c.run()
	if pid > 0 {
		unix.Kill(pid, unix.SIGKILL)
	}
	c.worker.Process.Kill()
	within(testTimeout, ended)
	c.killBatch()
}

// killBatch kills the batch, and waits for its other process, which ends then.
func (c *treeCell) killBatch() {
	c.kill()
	c.cmd.Wait()
	within(testTimeout, func() bool {
		return !slices.ContainsFunc(inside(c.dir), func(p proc) bool { return p.args == "" || strings.HasSuffix(p.args, " courier") })
	})
}

// run is the belay run of the job: its pid, and whether it has ended.
func (c *treeCell) run() (pid int, ended func() bool) {
	pid, _ = c.record("worker/state")
	return pid, func() bool { return startOf(pid) == "" }
}
