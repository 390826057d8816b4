//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// On a file system without locks (an NFS without its lock service says ENOLCK) everything goes on. What cannot be in force
// without locks is said once, and nothing else. strace makes every flock(2) fail so.
func TestLockless(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err == nil {
		err = exec.Command(strace, "-qq", "-e", "trace=none", "true").Run()
	}
	switch {
	case err != nil && os.Getenv("BELAY_TEST_SOAK") != "" && os.Getenv("CI") != "":
		t.Fatalf("this needs strace: %v", err)
	case err != nil:
		t.Skipf("this needs strace, and that it may trace: %v", err)
	}
	const unlocked = "no locks available"
	fails := []string{"sh", "-c", `echo "429 Too Many Requests, retry after 1 s" >&2; [ -e again ] || { : > again; exit 1; }`}
	tried, survived := 0, 0
	for name, tt := range map[string]struct {
		args   []string
		times  int
		code   int
		said   string // how the one line begins that tells of it; empty if nothing is said
		stdout string
	}{
		"Run":         {args: []string{"run", "--", "echo", "out"}, stdout: "out\n"},
		"Failure":     {args: []string{"run", "--max-retries", "1", "--base-delay", "0", "--", "false"}, times: 6, code: 1}, // alerts are counted
		"Gate":        {args: append([]string{"run", "--gate", "api", "--max-retries", "2", "--base-delay", "0", "--"}, fails...)},
		"MaxParallel": {args: append([]string{"run", "--gate", "api", "--max-parallel", "2", "--max-retries", "2", "--base-delay", "0", "--"}, fails...), said: "belay: --max-parallel cannot be enforced at gate api: "},
		"Breaker":     {args: []string{"run", "--gate", "api", "--breaker-failures", "2", "--retry-on", "503", "--max-retries", "0", "--", "sh", "-c", "echo HTTP 503 >&2; exit 1"}, times: 2, code: 1},
		"Scope":       {args: []string{"run", "--scope", "deploy", "--", "echo", "out"}, said: "belay: scope deploy cannot be enforced for this run: ", stdout: "out\n"},
		"Replace":     {args: []string{"run", "--scope", "deploy", "--on-busy", "replace", "--", "echo", "out"}, said: "belay: scope deploy cannot be enforced for this run: ", stdout: "out\n"},
		"Hook":        {args: []string{"hook", "--", "echo", "out"}, stdout: "out\n"},
		"Hold":        {args: []string{"gates", "hold", "api", "--until", "1h"}, stdout: "*"},
		"Ps":          {args: []string{"ps", "--reap"}, stdout: "*"},
		"Log":         {args: []string{"log"}, stdout: "*"},
		"Stats":       {args: []string{"stats"}, stdout: "*"},
		"Doctor":      {args: []string{"doctor"}, stdout: "*", code: -1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, 0)
			for range max(tt.times, 1) {
				tried++
				trace := filepath.Join(r.dir, "trace")
				args := append([]string{"-f", "-qq", "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK", "-o", trace, filepath.Join(binDir, "belay-plain")}, tt.args...)
				cmd := r.command(strace, args...)
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				code := shellCode(cmd.Run())
				said, want := strings.Count(stderr.String(), unlocked), 0
				if tt.said != "" {
					want = 1
				}
				if code != tt.code && tt.code >= 0 || code > 1 || said != want || !strings.Contains(stderr.String(), tt.said) || tt.stdout != "*" && stdout.String() != tt.stdout {
					t.Errorf("exit code %d, want %d; it was said %d times, want %q\nstdout: %s\nstderr: %s", code, tt.code, said, tt.said, &stdout, &stderr)
					continue
				}
				survived++
			}
		})
	}
	t.Logf("tried %d commands without locks; survived %d", tried, survived)
}
