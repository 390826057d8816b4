//go:build unix

package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/internal/test/must"
)

// companion puts a belayd on the PATH that says what it was asked.
func companion(t *testing.T, then string) {
	t.Helper()
	script(t, "belayd", `[ "$1 $2 $3" = "--for 0.1.0-dev/1 --belay" ] || exit 99
shift 4
for a in "$@"; do echo "[$a]"; done
`+then)
}

// belayd gets the flags that were given, in one form, and the arguments; its output and exit code are belay's.
func TestHandOver(t *testing.T) {
	place(t)
	companion(t, "cat; echo aside >&2; exit 3")
	for line, want := range map[string]string{
		"log":                           "log --",
		"log -n 5 -f 1f0c9a3e":          "log --n=5 --follow=true -- 1f0c9a3e",
		"log --json=false --since 2h":   "log --since=2h --json=false --",
		"log -- --odd":                  "log -- --odd",
		"stats --by=model --csv":        "stats --by=model --csv=true --",
		"events --category hook":        "events --category=hook --",
		"sessions --status failed 3f9c": "sessions --status=failed -- 3f9c",
		"alerts --integration claude":   "alerts --integration=claude --",
		"audit --action gate_reset":     "audit --action=gate_reset --",
		"prune --older-than 90d":        "prune --older-than=90d --",
		"ps --fleet --json":             "ps --json=true --",
		"gates --fleet --dsn host=x":    "gates --dsn=host=x --",
		"demo":                          "demo --",
		"fleet status --dsn x --json":   "fleet·status --dsn=x --json=true --",
		"rehearse --script 200 --max-retries 2 --result-file r.json -- claude -p hi": "rehearse --script=200 --result-file=r.json -- --max-retries=2 --result-file=r.json -- claude -p hi",
		"rehearse --script-file s --json ls":                                         "rehearse --script-file=s --json=true --result-file= -- -- ls",
	} {
		got := call(t, t.Context(), strings.NewReader("input\n"), strings.Fields(line)...).ends(3)
		if want = "[" + strings.NewReplacer(" ", "]\n[", "·", " ").Replace(want) + "]\ninput\n"; got.stdout != want || got.stderr != "aside\n" {
			t.Errorf("belay %s: belayd was asked\n%swant\n%s%s", line, got.stdout, want, got.stderr)
		}
	}
}

// Every flag of the table reaches belayd under its name.
func TestHandOver_EveryFlag(t *testing.T) {
	place(t)
	companion(t, "")
	for _, c := range belayd.Commands() {
		for _, f := range c.Flags {
			if c.Hidden || f.Hidden || c.Name == belayd.Rehearse {
				continue
			}
			value := "true"
			if f.Arg != "" {
				value = "7"
			}
			belay(t, append(strings.Fields(c.Name), "--"+f.Name+"="+value)...).ends(0).says().prints("[--" + f.Name + "=" + value + "]\n")
		}
	}
}

func TestHandOver_WithoutACompanion(t *testing.T) {
	place(t)
	t.Setenv("PATH", t.TempDir())
	belay(t, "log").ends(125).prints().says("belay log needs belayd, which is not next to belay or on the PATH; to install both: make install")
	write(t, os.Getenv("PATH")+"/belayd", "\x7fELF", 0o700)
	belay(t, "log").ends(125).prints().says("cannot start ")
}

// The belayd beside belay comes before any on the PATH, also where a link to belay leads.
func TestHandOver_FindsTheCompanionBesideBelay(t *testing.T) {
	dir := place(t)
	script(t, "belayd", "echo from the PATH")
	belay(t, "demo").ends(0).prints("from the PATH\n")
	real := write(t, filepath.Join(dir, "installed", "belay"), "", 0o700)
	write(t, filepath.Join(dir, "installed", "belayd"), "#!/bin/sh\necho from beside it\n", 0o700)
	must.OK(t, os.Symlink(real, "belay"))
	for _, path := range []string{real, filepath.Join(dir, "belay")} {
		cli.SetExecutable(t, path)
		belay(t, "demo").ends(0).prints("from beside it\n")
	}
}

// After a failed run the record is brought up to date in the background, unless that is turned off.
func TestHandOver_FoldsAfterAFailure(t *testing.T) {
	dir := place(t)
	script(t, "belayd", `echo "$@" > `+filepath.Join(dir, "asked.new")+` && mv `+filepath.Join(dir, "asked.new")+` `+filepath.Join(dir, "asked"))
	belay(t, "run", "--", "false").ends(1)
	t.Setenv("BELAY_FOLD", "")
	belay(t, "run", "--", "true").ends(0)
	if _, err := os.Stat("asked"); err == nil {
		t.Error("belayd was asked for nothing")
	}
	belay(t, "run", "--", "false").ends(1)
	appears(t, "asked")
	if got := read(t, "asked"); !strings.HasSuffix(got, " fold\n") {
		t.Errorf("%q", got)
	}
}

func TestHandOver_EndsWithItsContext(t *testing.T) {
	place(t)
	script(t, "belayd", "echo ready; sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	wait := begun(t, ctx, "log", "--follow")
	cancel()
	wait().ends(143)
}
