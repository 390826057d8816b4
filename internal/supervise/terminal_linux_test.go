package supervise_test

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/creack/pty"
)

func notify(sig os.Signal) chan os.Signal {
	c := make(chan os.Signal, 8)
	signal.Notify(c, sig)
	return c
}

// groups is a line of shell that says whether its group has the terminal: fields 5 and 8 of stat.
const groups = `set -- $(cat /proc/$$/stat); [ $5 = $8 ] && echo in''front || echo be''hind; `

func TestForeground_HasTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		// It may ask for it before it has been given it.
		s := newScreen(t, helper("terminal", file, who, "found", `read x < /dev/tty; echo got $x; `+groups+`exit 5`))
		s.send("hello\n")
		s.expect("got hello")
		s.expect("infront")
		r := reported(t, file)
		if r.Placement != supervise.Foreground || !r.Shares || !r.IsTerminal || r.Code != 5 || !r.Front || !r.SameModes {
			t.Errorf("%+v", r)
		}
	})
}

// Ctrl-C is the command's: it would be there alone without us.
func TestForeground_CtrlC(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s := newScreen(t, helper("terminal", file, who, "found", `echo up; read x`))
		s.expect("up")
		inFront(t, file)
		s.send(ctrlC)
		r := reported(t, file)
		if r.Signal != int(syscall.SIGINT) || r.Reason != "exited" || r.Interrupted || !r.Front {
			t.Errorf("%+v", r)
		}
	})
}

// Ctrl-C may be typed while a command runs already and does not have the terminal yet: only we are told then.
func TestForeground_CtrlCBeforeItHasTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		cmd := helper("terminal", file, who, "found", `echo up; while :; do sleep 0.05; done`)
		cmd.Env = append(cmd.Environ(), "SUPERVISE_TEST_LEND_LATE=1s")
		s := newScreen(t, cmd)
		s.expect("up")
		s.send(ctrlC)
		if r := reported(t, file); r.Signal != int(syscall.SIGINT) || r.Reason != "exited" || !r.Front {
			t.Errorf("%+v", r)
		}
	})
}

// A terminal may be resized while a command runs already and does not have the terminal yet.
func TestForeground_ResizedBeforeItHasTheTerminal(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		cmd := helper("terminal", file, who, "found", `trap 'stty size; exit 0' WINCH; echo up; while :; do sleep 0.05; done`)
		cmd.Env = append(cmd.Environ(), "SUPERVISE_TEST_LEND_LATE=1s")
		s := newScreen(t, cmd)
		s.expect("up")
		must.OK(t, pty.Setsize(s.pty, &pty.Winsize{Rows: 30, Cols: 100}))
		s.expect("30 100")
		if r := reported(t, file); r.Code != 0 || !r.Front {
			t.Errorf("%+v", r)
		}
	})
}

// The modes of a terminal are restored after a command that could not do so itself; what another one has chosen is left
// alone.
func TestForeground_Modes(t *testing.T) {
	for name, tt := range map[string]struct {
		script     string
		kill, same bool
	}{
		"Killed":     {`stty raw -echo; echo up; exec sleep 300`, true, true},
		"EndsItself": {`stty -echo; echo up; exit 0`, false, false},
		"Crashes":    {`stty raw -echo; echo up; kill -SEGV $$`, false, true},
		// The terminal was with a job of a shell that is no more.
		"Shell": {`set -m; stty raw -echo; echo up; sleep 300`, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, who, file string) {
				s := newScreen(t, helper("terminal", file, who, "found", tt.script))
				s.expect("up")
				if tt.kill {
					os.WriteFile(file+".stop", nil, 0o600)
				}
				if r := reported(t, file); r.SameModes != tt.same || !r.Front {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// A group without a shell above it cannot be suspended, and then neither is the command for long.
func TestForeground_CtrlZWithoutShell(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s := newScreen(t, helper("terminal", file, who, "found", `echo up; read x; echo got $x; `+groups+`exit 5`))
		s.expect("up")
		inFront(t, file)
		s.send(ctrlZ)
		s.send("hello\n")
		s.expect("got hello")
		s.expect("infront")
		if r := reported(t, file); r.Code != 5 || !r.Front {
			t.Errorf("%+v", r)
		}
	})
}

// A terminal that goes away ends the command that reads from it, and nothing hangs.
func TestForeground_HangUp(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		s := newScreen(t, helper("terminal", file, who, "found", `echo up; read x; exit 5`))
		s.expect("up")
		s.pty.Close()
		if r := reported(t, file); r.Placement != supervise.Foreground || r.Reason != "exited" || r.Front {
			t.Errorf("%+v", r)
		}
	})
}

// Without a terminal there is no foreground to put it in.
func TestForeground_WithoutTerminal(t *testing.T) {
	both(t, func(t *testing.T, who, file string) {
		cmd := helper("terminal", file, who, "foreground", `set -- $(cat /proc/$$/stat); [ $5 = $PPID ]`)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		must.OK(t, cmd.Run())
		if r := reported(t, file); r.Placement != supervise.SharedGroup || r.Shares || r.IsTerminal || r.Code != 0 {
			t.Errorf("%+v", r)
		}
	})
}
