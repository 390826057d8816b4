package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// --max-retries is how often each call is repeated, as seed 002 asks: 0 turns retrying off.
func TestMain_MaxRetries(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "ghsync")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		flags []string
		code  int
		views int // how often gh was asked for what does not answer
	}{
		{[]string{"--max-retries", "0"}, 1, 1},
		{[]string{"-max-retries=1"}, 1, 2},
		{[]string{"--max-retries", "2"}, 1, 3},
		{[]string{"--max-retries", "-1"}, 2, 0},
		{[]string{"--max-retries", "many"}, 2, 0},
	} {
		t.Run(strings.Join(tt.flags, " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range map[string]string{
				"gh": `#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
*"issue create"*) echo https://github.com/o/r/issues/1;;
*) echo 'gh: Bad Gateway (HTTP 502)' >&2; exit 1;;
esac
`,
				"plan.json": `{"Epics": [{"Title": "One", "Body": "b"}]}`,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			calls := filepath.Join(dir, "calls")
			cmd := exec.Command(bin, append(tt.flags, "-R", "o/r", filepath.Join(dir, "plan.json"))...)
			cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "CALLS="+calls, "GH_TOKEN=x", "BELAY_STATE_DIR="+filepath.Join(dir, "state"))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != tt.code {
				t.Errorf("%v, want exit code %d\n%s", err, tt.code, stderr.String())
			}
			made, _ := os.ReadFile(calls)
			if got := strings.Count(string(made), "issue view"); got != tt.views {
				t.Errorf("%d calls, want %d\n%s%s", got, tt.views, made, stderr.String())
			}
			if said := fmt.Sprint(strings.Contains(stderr.String(), "max-retries")); tt.code == 2 && said != "true" {
				t.Errorf("it says %s", stderr.String())
			}
		})
	}
}
