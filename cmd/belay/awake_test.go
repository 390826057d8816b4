//go:build linux

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// The inhibitor lasts as long as the run, also if Belay is killed. Where there is none, a flag is refused and a setting has no effect.
func TestKeepAwake(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.env = append(r.env, "PATH="+r.dir+":"+os.Getenv("PATH"))
	fake := filepath.Join(r.dir, "systemd-inhibit")
	write := func(script string) { must.OK(t, os.WriteFile(fake, []byte("#!/bin/sh\n"+script), 0o755)) }
	exists := func(name string) bool { _, err := os.Stat(filepath.Join(r.dir, name)); return err == nil }
	belay := lookIn(environment(programs(t), r.dir, r.id), "belay")

	write("echo no session >&2; exit 1\n")
	if out, err := r.command(belay, "run", "--keep-awake", "--", "touch", "started").CombinedOutput(); shellCode(err) != 2 || !strings.Contains(string(out), "--keep-awake cannot be used here: systemd-inhibit does not work here") || exists("started") {
		t.Errorf("%v: %s", err, out)
	}
	write("cd " + r.dir + "; exec >&-; sleep 1; touch late\n") // it hangs, and does not see that belay has gone
	if out, err := r.command(belay, "run", "--keep-awake", "--", "true").CombinedOutput(); shellCode(err) != 2 {
		t.Errorf("%v: %s", err, out)
	}
	defer func() {
		if exists("late") {
			t.Error("an inhibitor that hangs was left")
		}
	}()
	r.env = append(r.env, "BELAY_KEEP_AWAKE=1")
	if out, err := r.command(belay, "run", "--verbose", "--", "true").CombinedOutput(); err != nil || !strings.Contains(string(out), "BELAY_KEEP_AWAKE has no effect here: ") {
		t.Errorf("%v: %s", err, out)
	}
	write("cd " + r.dir + "; cat; touch released\n")
	if out, err := r.command(belay, "run", "--", "sh", "-c", "test ! -e released").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	eventually(t, "the inhibitor has ended", func() bool { return exists("released") })
	must.OK(t, os.Remove(filepath.Join(r.dir, "released")))
	r.start(belay, "run", "--", "sh", "-c", "echo ready; sleep 2; exec sleep 1")
	r.line("ready")
	if exists("released") {
		t.Error("released too early")
	}
	must.OK(t, r.cmd.Process.Kill())
	eventually(t, "the inhibitor of a killed belay has ended", func() bool { return exists("released") })
	io.Copy(io.Discard, r.out)
	r.cmd.Wait()
}
