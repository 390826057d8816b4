//go:build linux

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// sender stands for notify-send: it writes down what it is told, and does not end before it is let.
const sender = `#!/bin/sh
printf '%s\n' "$*" >> "$NOTIFIED"
touch "$NOTIFIED.started"
while [ -e "$NOTIFIED.hang" ]; do sleep 0.05; done
`

// notifiedShell is a shell on a terminal of that kind, in front of a desktop.
func notifiedShell(t *testing.T, kind string) *screen {
	t.Helper()
	s := newShell(t, "")
	must.OK(t, os.Mkdir(s.path("bin"), 0o700))
	s.write("bin/notify-send", sender)
	os.Chmod(s.path("bin/notify-send"), 0o700)
	s.run("export PATH=$PWD/bin:$PATH TERM=" + kind + " DISPLAY=:7 DBUS_SESSION_BUS_ADDRESS=none NOTIFIED=$PWD/notified; unset SSH_CONNECTION SSH_TTY TMUX STY TERM_PROGRAM LC_TERMINAL")
	return s
}

// noted runs a line, and returns what is shown before the next one.
func (s *screen) noted(line string) string {
	s.t.Helper()
	return strings.TrimSuffix(s.run(line+"; echo"), "\r\n")
}

// notified is what the desktop was told since it was last asked.
func (s *screen) notified() string {
	s.t.Helper()
	text, _ := os.ReadFile(s.path("notified"))
	os.Remove(s.path("notified"))
	os.Remove(s.path("notified.started"))
	return string(text)
}

// tells waits until the desktop was told something, all of which matches.
func (s *screen) tells(pattern string) {
	s.t.Helper()
	eventually(s.t, "the desktop is told", func() bool { _, err := os.Stat(s.path("notified.started")); return err == nil })
	if got := s.notified(); !regexp.MustCompile(`^` + pattern + `\n$`).MatchString(got) {
		s.t.Errorf("the desktop was told %q, which does not match %q", got, pattern)
	}
}

const took = `[0-9.]+m?s`

// A long run ends with a notification: a bell where the terminal knows nothing better, and the desktop's.
func TestNotify_Ended(t *testing.T) {
	t.Parallel()
	s := notifiedShell(t, "xterm")
	if got := s.run("belay run --notify-after 1ms -- sh -c 'exit 3'; echo code $?"); got != "\acode 3\r\n" {
		t.Errorf("%q", got)
	}
	s.tells(`belay: sh failed after ` + took + `: exit 3`)
	if got := s.noted("belay run --notify-after 1ms --name nightly -- echo hi"); got != "hi\r\n\a" {
		t.Errorf("%q", got)
	}
	s.tells(`belay: echo \(nightly\) finished after ` + took)
	if got := s.run("belay run --notify-after 1ms --timeout 100ms -- sleep 60; echo code $?"); !strings.Contains(got, "was terminated\r\n\acode 124\r\n") {
		t.Errorf("%q", got)
	}
	s.tells(`belay: sleep failed after ` + took + `: timeout`)
	// Where stderr goes elsewhere, only the desktop is told.
	if got := s.run("belay run --notify-after 1ms -- true 2> err; cat err"); got != "" {
		t.Errorf("%q", got)
	}
	s.tells(`belay: true finished after ` + took)
	if got := s.noted("TERM=dumb belay run --notify-after 1ms -- true"); got != "" {
		t.Errorf("%q", got)
	}
	s.tells(`belay: true finished after ` + took)
}

// What is short, quiet, not asked for or interrupted by its user ends without one.
func TestNotify_NotThen(t *testing.T) {
	t.Parallel()
	s := notifiedShell(t, "xterm-kitty")
	s.run("mkdir -p config/belay project/.git; echo 'notify_after = \"1ms\"' > project/.belay.toml")
	for _, line := range []string{
		"belay run -- true", "belay run --notify-after 1h -- true", "belay run --notify-after 0 -- true",
		"belay run --quiet --notify-after 1ms -- true", "BELAY_NOTIFY_AFTER=1h belay run -- true",
		"BELAY_NOTIFY_AFTER=1ms belay run --notify-after 0 -- true",
	} {
		if got := s.noted(line); got != "" {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := s.noted("(cd project && belay run -- true)"); strings.Contains(got, "\a") || strings.Contains(got, "\x1b]") || !strings.Contains(got, "notify_after") {
		t.Errorf("a project's file: %q", got)
	}
	s.types("belay run --notify-after 1ms --max-retries 1 -- sleep 60")
	s.inFront("sleep")
	s.send(ctrlC)
	s.prompt()
	if got := s.notified(); got != "" || strings.Contains(s.shown(), "\a") {
		t.Errorf("%q, and the desktop was told %q", s.shown(), got)
	}
	// The user's own file and the environment can ask for it.
	s.run("echo 'notify_after = \"1ms\"' > config/belay/config.toml")
	if got := s.noted("belay run -- true"); !strings.Contains(got, "\x1b]99;;belay: true finished after ") {
		t.Errorf("%q", got)
	}
	if got := s.noted("BELAY_NOTIFY_AFTER=1h belay run -- true"); got != "" {
		t.Errorf("%q", got)
	}
}

// A terminal that can notify is told what to show, and the desktop nothing: it would be there twice.
func TestNotify_ByTheTerminal(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"xterm-kitty": "\x1b\\]99;;belay: true finished after " + took + "\x1b\\\\\a",
		"foot":        "\x1b\\]777;notify;Belay;belay: true finished after " + took + "\x1b\\\\\a",
		"wezterm":     "\x1b\\]9;belay: true finished after " + took + "\x1b\\\\\a",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := notifiedShell(t, kind)
			if got := s.noted("belay run --notify-after 1ms -- true"); !regexp.MustCompile(`^` + want + `$`).MatchString(got) {
				t.Errorf("%q does not match %q", got, want)
			}
			if got := s.noted("TMUX=x belay run --notify-after 1ms -- true"); got != "\a" {
				t.Errorf("within tmux: %q", got)
			}
			s.tells(`belay: true finished after ` + took) // what the bell says nothing of
		})
	}
}

// Whatever the name of the command is, the terminal is not controlled by it, and a secret is not shown.
func TestNotify_Text(t *testing.T) {
	t.Parallel()
	s := notifiedShell(t, "xterm-kitty")
	s.run(`ln -s /bin/true "bin/$(printf 'e\033]0;title\007vil\033\\\\\033[2J')"; ln -s /bin/true bin/ghp_0123456789abcdefghijABCDEFGHIJ012345`)
	got := s.noted(`belay run --notify-after 1ms -- "$(printf 'e\033]0;title\007vil\033\\\\\033[2J')"`)
	if !regexp.MustCompile("^\x1b\\]99;;belay: e[^\x00-\x1f]*vil[^\x00-\x1f]* finished after " + took + "\x1b\\\\\a$").MatchString(got) {
		t.Errorf("%q", got)
	}
	for _, kind := range []string{"xterm-kitty", "xterm"} {
		line := "TERM=" + kind + " belay run --notify-after 1ms -- ghp_*"
		got = s.noted("cd bin; " + line + "; cd ..")
		if strings.Contains(got, "0123456789") || !strings.Contains(got, "\a") {
			t.Errorf("%q", got)
		}
	}
	eventually(t, "the desktop is told", func() bool { _, err := os.Stat(s.path("notified.started")); return err == nil })
	if got := s.notified(); strings.Contains(got, "0123456789") {
		t.Errorf("%q", got)
	}
}

// A desktop that does not answer, or a terminal that takes no output, holds nothing up.
func TestNotify_HoldsNothingUp(t *testing.T) {
	t.Parallel()
	s := notifiedShell(t, "xterm")
	s.write("notified.hang", "")
	s.noted("belay run --notify-after 1ms -- true") // returns, though notify-send does not
	s.tells(`belay: true finished after ` + took)
	os.Remove(s.path("notified.hang"))

	s.send("while [ ! -e go ]; do sleep 0.05; done; belay run --notify-after 1ms -- true; touch over\r")
	s.inFront()
	const ctrlS, ctrlQ = "\x13", "\x11"
	s.send(ctrlS)
	s.write("go", "")
	s.await("over")
	s.send(ctrlQ)
	s.prompt()
	s.noted("rm bin/notify-send; belay run --notify-after 1ms -- true")
}

// The end of a long wait is told, too, unless there is no end to it. What tells the desktop is gone before the command is started: it would
// be taken for what the command has left running.
func TestNotify_Resumed(t *testing.T) {
	t.Parallel()
	s := notifiedShell(t, "xterm")
	s.write("notified.hang", "")
	s.run("belay gates hold api --until 2s --reason test")
	got := s.noted("belay run --gate api --notify-after 1s --reap -- sh -c 'echo runs'")
	if strings.Count(got, "\a") != 2 || strings.Contains(got, "notify-send") || strings.Index(got, "\a") > strings.Index(got, "runs") {
		t.Errorf("%q", got)
	}
	eventually(t, "the desktop is told twice", func() bool {
		text, _ := os.ReadFile(s.path("notified"))
		return strings.Count(string(text), "\n") == 2
	})
	s.tells(`belay: sh is starting after a wait of ` + took + `\nbelay: sh finished after ` + took)
	os.Remove(s.path("notified.hang"))

	got = s.noted("belay run --max-retries 1 --base-delay 1s --jitter none --notify-after 800ms -- sh -c 'echo >> n; test $(wc -l < n) -gt 1'")
	if strings.Count(got, "\a") != 2 {
		t.Errorf("%q", got)
	}
	s.run("belay gates hold api --until 1h --reason test")
	s.send("belay run --gate api --max-wait 2h --notify-after 1ms -- true\r")
	s.expect(`on hold`)
	s.send(ctrlC)
	if got := s.expect(`\$ $`); strings.Contains(got, "\a") {
		t.Errorf("an interrupted wait: %q", got)
	}
}

// A run that is stopped from elsewhere notifies its user, and says by what.
func TestNotify_Stopped(t *testing.T) {
	t.Parallel()
	s := notifiedShell(t, "xterm")
	s.send("belay run --notify-after 1ms -- sh -c 'touch ready; exec sleep 60'\r")
	s.await("ready")
	cmd := s.another("belay", "cancel", s.onlyRun())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.expect(`stopped sh: cancelled by belay cancel \(pid \d+\)\r\n\x07\$ $`)
	s.tells(`belay: sh was stopped after ` + took + `: cancelled by belay cancel \(pid \d+\)`)
}
