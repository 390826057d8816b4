//go:build unix

package handover_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/test/must"
)

// companion puts a belayd on the PATH that says what it was asked.
func companion(t *testing.T, then string) {
	t.Helper()
	commandtest.Script(t, "belayd", `[ "$1 $2 $3" = "--for 0.1.0-dev/1 --belay" ] || exit 99
shift 4
for a in "$@"; do echo "[$a]"; done
`+then)
}

// belayd gets the flags that were given, in one form, and the arguments; its output and exit code are belay's.
func TestHandOver(t *testing.T) {
	commandtest.Place(t)
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
		got := commandtest.Call(t, t.Context(), strings.NewReader("input\n"), strings.Fields(line)...).Ends(3)
		if want = "[" + strings.NewReplacer(" ", "]\n[", "·", " ").Replace(want) + "]\ninput\n"; got.Stdout != want || got.Stderr != "aside\n" {
			t.Errorf("belay %s: belayd was asked\n%swant\n%s%s", line, got.Stdout, want, got.Stderr)
		}
	}
}

// Every flag of the table reaches belayd under its name.
func TestHandOver_EveryFlag(t *testing.T) {
	commandtest.Place(t)
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
			commandtest.Belay(t, append(strings.Fields(c.Name), "--"+f.Name+"="+value)...).Ends(0).Says().Prints("[--" + f.Name + "=" + value + "]\n")
		}
	}
}

func TestHandOver_WithoutACompanion(t *testing.T) {
	commandtest.Place(t)
	t.Setenv("PATH", t.TempDir())
	commandtest.Belay(t, "log").Ends(125).Prints().Says("belay log needs belayd, which is not next to belay or on the PATH; to install both, see https://github.com/belay-run/belay/blob/main/docs/install.md")
	commandtest.Write(t, os.Getenv("PATH")+"/belayd", "\x7fELF", 0o700)
	commandtest.Belay(t, "log").Ends(125).Prints().Says("cannot start ")
}

// The belayd beside belay comes before any on the PATH, also where a link to belay leads.
func TestHandOver_FindsTheCompanionBesideBelay(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Script(t, "belayd", "echo from the PATH")
	commandtest.Belay(t, "demo").Ends(0).Prints("from the PATH\n")
	real := commandtest.Write(t, filepath.Join(dir, "installed", "belay"), "", 0o700)
	commandtest.Write(t, filepath.Join(dir, "installed", "belayd"), "#!/bin/sh\necho from beside it\n", 0o700)
	must.OK(t, os.Symlink(real, "belay"))
	for _, path := range []string{real, filepath.Join(dir, "belay")} {
		commandtest.SetExecutable(t, path)
		commandtest.Belay(t, "demo").Ends(0).Prints("from beside it\n")
	}
}

// After a failed run the record is brought up to date in the background, unless that is turned off.
func TestHandOver_FoldsAfterAFailure(t *testing.T) {
	dir := commandtest.Place(t)
	commandtest.Script(t, "belayd", `echo "$@" > `+filepath.Join(dir, "asked.new")+` && mv `+filepath.Join(dir, "asked.new")+` `+filepath.Join(dir, "asked"))
	commandtest.Belay(t, "run", "--", "false").Ends(1)
	t.Setenv("BELAY_FOLD", "")
	commandtest.Belay(t, "run", "--", "true").Ends(0)
	if _, err := os.Stat("asked"); err == nil {
		t.Error("belayd was asked for nothing")
	}
	commandtest.Belay(t, "run", "--", "false").Ends(1)
	commandtest.Appears(t, "asked")
	if got := commandtest.Read(t, "asked"); !strings.HasSuffix(got, " fold\n") {
		t.Errorf("%q", got)
	}
}

func TestHandOver_EndsWithItsContext(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "belayd", "echo ready; sleep 60")
	ctx, cancel := context.WithCancel(t.Context())
	wait := commandtest.Begun(t, ctx, "log", "--follow")
	cancel()
	wait().Ends(143)
}
