//go:build linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// What the system takes for the command alone it takes through belay, up to what belay's own words cost; what it does
// not take is refused in words that name the way out. (One argument of 131,072 bytes cannot be given to belay itself.)
func TestArguments_TotalLimit(t *testing.T) {
	t.Parallel()
	dir, id := t.TempDir(), t.Name()+strconv.Itoa(os.Getpid())
	defer afterwards(t, dir, id)
	env := environment(programs(t), dir, id)
	run := func(size int, command ...string) (code int, started bool, stderr string) {
		const piece = 100_000
		for ; size > 0; size -= piece {
			command = append(command, strings.Repeat("x", min(size, piece)-9)) // a NUL and a pointer
		}
		cmd := exec.Command(lookIn(env, command[0]), command[1:]...)
		cmd.Env, cmd.Dir = env, dir
		var text strings.Builder
		cmd.Stderr = &text
		err := cmd.Run()
		if errors.Is(err, syscall.E2BIG) {
			return 0, false, ""
		}
		return shellCode(err), true, text.String()
	}
	// The most that the system takes for the command alone.
	low, high := 100_000, 8<<20
	for high-low > 16 {
		middle := (low + high) / 2
		if _, ok, _ := run(middle, "true"); ok {
			low = middle
		} else {
			high = middle
		}
	}
	words := regexp.MustCompile(`^belay: .*in all.*--prompt-file.*\n$`)
	for _, below := range []int{20000, 8000, 5000, 4000, 3000, 2000, 1000, 500, 250, 100, 0} {
		code, started, stderr := run(low-below, "belay", "run", "--", "true")
		switch {
		case !started: // the kernel has refused belay itself
		case code == 0 && stderr == "":
		case code == 2 && words.MatchString(stderr) && below < 1000:
		default:
			t.Errorf("%d bytes below the limit: exit code %d, %q", below, code, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "state", "log.jsonl")); err != nil {
		t.Errorf("nothing was run: %v", err)
	}
}
