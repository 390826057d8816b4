//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// orphan is the beginning of a script: it leaves a process whose parent has ended, in a session of its own, with nothing
// in its environment. So do daemons behind sudo.
const orphan = `(setsid env -i sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &)
	while [ ! -e orphan ]; do sleep 0.01; done; rm orphan; `

// orphans are the living processes in the run's directory once belay has ended.
func (r *run) orphans(want int) {
	r.t.Helper()
	left := inside(r.dir)
	if len(left) != want {
		r.t.Errorf("left are %v, want %d\n%s", left, want, r.said())
	}
	for _, p := range left {
		unix.Kill(p.pid, unix.SIGKILL)
	}
}

// What gh has left when it answered a question on the side is not ended when a later attempt is stopped, and does not save
// what that has left.
func TestOrphan_SideQuestion(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"Wiped":  `(setsid env -i sleep 300 > /dev/null 2>&1 &)`,
		"Marked": `setsid sleep 300 > /dev/null 2>&1 &`,
		"Busy":   `(setsid sh -c 'while sleep 0.1; do (sleep 1 &); done' > /dev/null 2>&1 &)`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			for _, dir := range []string{"aside", "bin"} {
				must.OK(t, os.Mkdir(filepath.Join(r.dir, dir), 0o700))
			}
			gh := fmt.Sprintf(`#!/bin/sh
case "$*" in
*rate_limit)
	cd aside; %s
	: > ../asked
	echo '{"resources":{"core":{"limit":60,"remaining":0,"reset":'$(date +%%s)'}}}'
	exit 0 ;;
esac
if [ ! -e asked ]; then echo 'HTTP 403: API rate limit exceeded for user ID 1.' >&2; exit 1; fi
%s
: > again
sleep 300
`, left, orphan)
			path := filepath.Join(r.dir, "bin", "gh")
			must.OK(t, built.WriteFile(path, []byte(gh)))
			r.start("belay", "run", "--max-retries", "1", "--base-delay", "0", "--rate-limit-buffer", "0", "--timeout", "10s", "--", path, "issue", "list")
			r.ends(124)
			if _, err := os.Stat(filepath.Join(r.dir, "again")); err != nil {
				t.Fatalf("there was no second attempt\n%s", r.said())
			}
			r.orphans(0)
			aside := inside(filepath.Join(r.dir, "aside"))
			if len(aside) == 0 {
				t.Errorf("what gh had left on the side was ended\n%s", r.said())
			}
			for len(aside) > 0 {
				for _, p := range aside {
					unix.Kill(p.pid, unix.SIGKILL)
				}
				aside = inside(filepath.Join(r.dir, "aside"))
			}
		})
	}
}

// A question on the side that fails leaves nothing.
func TestOrphan_FailedSideQuestion(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{
		"Wiped":  `(setsid env -i sleep 300 > /dev/null 2>&1 &)`,
		"Marked": `setsid sleep 300 > /dev/null 2>&1 &`,
		"Silent": `sleep 300 &`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			path := filepath.Join(r.dir, "gh")
			gh := fmt.Sprintf(`#!/bin/sh
case "$*" in
*rate_limit) : > asked; %s
	exit 1 ;;
esac
echo 'HTTP 403: API rate limit exceeded for user ID 1.' >&2
exit 1
`, left)
			must.OK(t, built.WriteFile(path, []byte(gh)))
			r.start("belay", "run", "--max-retries", "1", "--base-delay", "1h", "--max-delay", "1h", "--max-wait", "1s", "--", path, "issue", "list")
			io.Copy(io.Discard, r.out)
			r.cmd.Wait()
			if _, err := os.Stat(filepath.Join(r.dir, "asked")); err != nil {
				t.Fatalf("nothing was asked on the side\n%s", r.said())
			}
			r.orphans(0)
		})
	}
}
