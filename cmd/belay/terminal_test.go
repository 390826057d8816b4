//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// On a terminal, belay run behaves as the command alone: each scenario is first played without belay.

func need(t *testing.T, tool string) {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
}

func TestTerminal_Isatty(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		const ask = `sh -c 'for i in 0 1 2; do test -t $i && r="$r tty" || r="$r no"; done; echo $r $(stty size < /dev/tty) >&2'`
		for redirect, want := range map[string]string{
			"":                           "tty tty tty 24 80\r\n",
			"< /dev/null":                "no tty tty 24 80\r\n",
			"> /dev/null":                "tty no tty 24 80\r\n",
			"| cat":                      "tty no tty 24 80\r\n",
			"< /dev/null 2>&1 | cat":     "no no no 24 80\r\n",
			"< /dev/null > /dev/null":    "no no tty 24 80\r\n",
			"2>&1 | (cat; exit 0) | cat": "tty no no 24 80\r\n",
		} {
			if got := s.run("$B " + ask + " " + redirect); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %q, want %q", redirect, got, want)
			}
		}
	})
}

func TestTerminal_Vim(t *testing.T) {
	need(t, "vim")
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		modes := s.run("stty -a")
		s.send("$B vim -u NONE -i NONE -n text\r")
		s.expect(`"text" \[New`)
		s.send("ihello" + escape + ":wq\r")
		s.expect(`written`)
		s.prompt()
		if got := s.run("cat text"); !strings.HasPrefix(got, "hello\r\n") {
			t.Errorf("the file is %q", got)
		}
		if after := s.run("stty -a"); after != modes {
			t.Errorf("the terminal's modes were %q and are %q", modes, after)
		}
	})
}

// Full-screen programs are where job control is hard: modes, foreground group and both stops must be right.
func TestTerminal_VimSuspended(t *testing.T) {
	need(t, "vim")
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B vim -u NONE -i NONE -n text\r")
		s.expect(`"text" \[New`)
		for range 3 {
			s.send(ctrlZ)
			s.expect(`Stopped`)
			s.prompt()
			if got := s.run("echo alive"); !strings.HasPrefix(got, "alive\r\n") {
				t.Fatalf("the shell says %q", got)
			}
			s.send("fg\r")
			s.inFront()
			eventually(t, "vim has the terminal back in raw mode", s.raw)
			s.send("ix" + escape)
			s.expect("x")
		}
		s.send(":wq\r")
		s.expect(`written`)
		s.prompt()
		if got := s.run("cat text"); !strings.HasPrefix(got, "xxx\r\n") {
			t.Errorf("the file is %q", got)
		}
	})
}

func TestTerminal_Less(t *testing.T) {
	need(t, "less")
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		for _, line := range []string{
			"seq 1000 > n; $B less n",
			"$B seq 1000 | less",
			"seq 1000 | $B less",
			"$B seq 1000 | $B less",
			"$B cat < n | $B cat | less",
		} {
			s.types(line)
			s.expect(`\b22\b`)
			s.expect(`:|n`)
			s.send("G")
			s.expect(`\b1000\b`)
			s.send("q")
			s.prompt()
		}
		s.run("true")
	})
}

func TestTerminal_Password(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.write("ask.sh", `sleep 0.1 # bash itself may be late to hand the terminal to a pipeline
exec < /dev/tty
stty -echo
printf 'Password: ' > /dev/tty
read p
stty echo
echo; echo "${#p} characters"
`)
		for _, line := range []string{"$B sh ask.sh", "$B sh ask.sh < /dev/null", "$B sh ask.sh | cat", "echo x | $B sh ask.sh", "sh -c '$B sh ask.sh'"} {
			s.types(strings.ReplaceAll(line, "$B", b))
			s.expect(`Password: `)
			s.send("hunter2\r")
			s.expect(`7 characters`)
			s.prompt()
		}
		if strings.Contains(s.shown(), "hunter2") {
			t.Error("the password was shown")
		}
	})
}

func TestTerminal_SSHKeygen(t *testing.T) {
	need(t, "ssh-keygen")
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.run("ssh-keygen -q -t ed25519 -N hunter2 -f key")
		for _, line := range []string{"$B ssh-keygen -y -f key", "$B ssh-keygen -y -f key < /dev/null", "$B ssh-keygen -y -f key | cat"} {
			s.types(line)
			s.expect(`passphrase.*: `)
			s.send("hunter2\r")
			s.expect(`ssh-ed25519 `)
			s.prompt()
		}
	})
}

func TestTerminal_CtrlC(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B sh -c 'echo rea''dy; exec sleep 300'\r")
		s.expect(`ready\r\n`)
		s.send(ctrlC)
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 130\r\n") {
			t.Errorf("%q", got)
		}
	})
}

// Without a shell no process checks whether a signal ended it: the code is what counts.
func TestTerminal_CtrlCWithoutShell(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newScreen(t, with(b, "sh", "-c", "echo ready; exec sleep 300")...)
		s.expect(`ready\r\n`)
		s.send(ctrlC)
		s.ends(130)
	})
}

func TestTerminal_Quit(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B sh -c 'echo rea''dy; exec sleep 300'\r")
		s.expect(`ready\r\n`)
		s.send(ctrlBackslash)
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 131\r\n") {
			t.Errorf("%q", got)
		}
	})
}

// A program that handles Ctrl-C itself (an editor, a REPL) goes on, and so does belay.
func TestTerminal_CtrlCTrapped(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.write("trap.sh", `trap 'echo caught' INT
echo ready
while [ ! -e stop ]; do sleep 0.05; done
exit 5
`)
		s.send("$B sh trap.sh\r")
		s.expect(`ready\r\n`)
		for range 3 {
			s.send(ctrlC)
			s.expect(`caught\r\n`)
		}
		s.write("stop", "")
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 5\r\n") {
			t.Errorf("%q", got)
		}
	})
}

// The same where belay is not alone in front of the terminal: in a script, in a pipeline. It must not decide that
// a program that handles Ctrl-C has handled it for the last time.
func TestTerminal_CtrlCTrappedInScript(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.write("trap.sh", `trap 'echo caught' INT
echo ready
end=$(($(date +%s) + 12))
while [ $(date +%s) -lt $end ]; do sleep 0.1; done
echo survived
exit 5
`)
		s.write("script.sh", `trap : INT
`+b+` sh trap.sh
echo code $?
`)
		s.send("bash script.sh\r")
		s.expect(`ready\r\n`)
		s.send(ctrlC)
		s.expect(`caught\r\n`)
		if got := s.expect(`code \d+`); !strings.Contains(got, "survived") || !strings.HasSuffix(got, "code 5") {
			t.Errorf("%q", got)
		}
		s.prompt()
	})
}

func TestTerminal_Suspend(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B sh -c 'echo rea''dy; read x; echo got $x; exit 6'\r")
		s.expect(`ready\r\n`)
		for range 3 {
			s.send(ctrlZ)
			s.expect(`Stopped`)
			s.prompt()
			if got := s.run("jobs | grep -c Stopped"); !strings.HasPrefix(got, "1\r\n") {
				t.Fatalf("jobs: %q", got)
			}
			s.send("fg\r")
			s.inFront()
		}
		s.send("hello\r")
		s.expect(`got hello`)
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 6\r\n") {
			t.Errorf("%q", got)
		}
	})
}

func TestTerminal_Background(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B sleep 300\r")
		s.inFront("sleep")
		s.send(ctrlZ)
		s.expect(`Stopped`)
		s.prompt()
		s.run("bg")
		if got := s.run("kill %1; wait %1; echo code $?"); !strings.Contains(got, "code 143\r\n") {
			t.Errorf("%q", got)
		}
		// A command that reads from the background is stopped until it is brought to the front.
		s.run("$B cat & sleep 0.2")
		if !within(testTimeout/2, func() bool { return strings.Contains(s.run("jobs"), "Stopped") }) {
			t.Fatal("a background reader is not stopped")
		}
		s.send("fg\r")
		s.inFront()
		s.send("line\r")
		s.expect(`line\r\nline\r\n`)
		s.send(ctrlD)
		s.prompt()
		// One that only writes is not.
		if got := s.run("$B echo written & wait"); !strings.Contains(got, "written") {
			t.Errorf("%q", got)
		}
	})
}

// One Ctrl-C ends a loop, because the shell sees that its child died of it.
func TestTerminal_Loop(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("for i in 1 2 3; do echo rou''nd $i; $B sleep 300; done\r")
		s.expect(`round 1\r\n`)
		s.inFront("sleep")
		s.send(ctrlC)
		s.prompt()
		s.run("true")
		s.send("bash -c 'for i in 1 2 3; do echo rou''nd $i; " + b + " sleep 300; done'\r")
		s.expect(`round 1\r\n`)
		s.inFront("sleep")
		s.send(ctrlC)
		s.prompt()
		s.run("true")
		if shown := s.shown(); strings.Contains(shown, "round 2") {
			t.Error("the loop went on")
		}
	})
}

// A child that gives its own exit code on Ctrl-C has handled it: the loop goes on.
func TestTerminal_LoopGoesOn(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.write("trap.sh", "trap 'exit 0' INT\necho \"$1 ready\"\nwhile :; do sleep 0.05; done\n")
		s.send("for i in 1 2; do $B sh trap.sh $i; done; echo en''d\r")
		for _, round := range []string{"1", "2"} {
			s.expect(round + ` ready\r\n`)
			s.send(ctrlC)
		}
		s.expect(`end\r\n`)
		s.prompt()
	})
}

// A Ctrl-C in the instant before the command has the terminal comes to belay, which on a busy machine hears of it late. It still belongs to the command: one that handles it
// ends with its own exit code. Here the command itself sends it, so that it is certain to come late.
func TestTerminal_EarlyInterruptHeardLate(t *testing.T) {
	t.Parallel()
	s := newShell(t, "belay run --")
	s.write("trap.sh", "trap 'exit 7' INT\nkill -INT $PPID\nwhile :; do sleep 0.05; done\n")
	s.send("$B sh trap.sh; echo code:$?\r")
	s.expect(`code:7\r\n`)
	s.prompt()
}

func TestTerminal_EndOfInput(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newScreen(t, with(b, "cat")...)
		s.send("line\r")
		s.expect(`line\r\nline\r\n`)
		s.send(ctrlD)
		s.ends(0)
	})
}

func TestTerminal_Resized(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.write("size.sh", "trap 'stty size' WINCH\necho ready\nwhile [ ! -e stop ]; do sleep 0.05; done\n")
		s.send("$B bash size.sh\r")
		s.expect(`ready\r\n`)
		s.resize(30, 100)
		s.expect(`30 100\r\n`)
		s.write("stop", "")
		s.prompt()
	})
}

// A shell inside: it has jobs of its own on the same terminal.
func TestTerminal_ShellInside(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B bash --norc --noprofile --noediting -i\r")
		s.prompt()
		s.run("echo inside")
		s.send("sh -c 'echo rea''dy; exec sleep 300'\r")
		s.expect(`ready\r\n`)
		s.send(ctrlC)
		s.prompt()
		s.send("sh -c 'echo rea''dy; exec sleep 300'\r")
		s.expect(`ready\r\n`)
		s.send(ctrlZ)
		s.expect(`Stopped`)
		s.prompt()
		s.run("kill %1; fg")
		s.send("exit 9\r")
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 9\r\n") {
			t.Errorf("%q", got)
		}
	})
}

// script(1) makes a terminal of its own, and puts this one into raw mode.
func TestTerminal_Script(t *testing.T) {
	need(t, "script")
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		modes := s.run("stty -a")
		s.send("$B script -qec 'read x; echo got $x; exit 4' /dev/null\r")
		s.expect(`/dev/null\r\n`)
		s.send("hello\r")
		s.expect(`got hello\r\n`)
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 4\r\n") {
			t.Errorf("%q", got)
		}
		if after := s.run("stty -a"); after != modes {
			t.Errorf("the terminal's modes were %q and are %q", modes, after)
		}
	})
}

// tmux takes the whole screen and leaves a server behind, on purpose.
func TestTerminal_Tmux(t *testing.T) {
	need(t, "tmux")
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.run("unset TMUX; export TMUX_TMPDIR=$PWD")
		// tmux takes keys that come within a millisecond, of each other or of attaching, for pasted: they are no prefix then.
		s.write("tmux.conf", "set -g assume-paste-time 0\n")
		s.send("$B tmux -f tmux.conf new-session 'echo in''side; exec sleep 300'\r")
		s.expect(`inside`)
		s.expect(`\[0\]`) // the status line
		s.send("\x02d")
		s.expect(`\[detached`)
		s.prompt()
		if got := s.run("tmux list-sessions | wc -l"); !strings.HasPrefix(got, "1\r\n") {
			t.Errorf("the server is gone: %q", got)
		}
		s.send("$B tmux attach\r")
		s.expect(`inside`)
		s.send("\x02d")
		s.expect(`\[detached`)
		s.prompt()
		s.run("$B tmux kill-server")
	})
}

// When the terminal goes away, so does the command.
func TestTerminal_HangUp(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.send("$B sh -c 'echo rea''dy; exec sleep 300'\r")
		s.expect(`ready\r\n`)
		s.pty.Close()
		eventually(t, "all are gone", func() bool { return len(marked(idVar+"="+s.id)) == 0 })
	})
}

func TestTerminal_HangUpWithoutShell(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newScreen(t, with(b, "sh", "-c", "echo ready; exec sleep 300")...)
		s.expect(`ready\r\n`)
		s.pty.Close()
		s.ends(129)
		eventually(t, "all are gone", func() bool { return len(marked(idVar+"="+s.id)) == 0 })
	})
}

// Limits hold on a terminal too, and a program that is stopped by one does not leave the terminal raw.
func TestTerminal_TimeoutRestoresModes(t *testing.T) {
	need(t, "vim")
	t.Parallel()
	s := newShell(t, "")
	modes := s.run("stty -a")
	s.send("belay run --timeout 1s -- vim -u NONE -i NONE -n text\r")
	s.expect(`vim exceeded its timeout \(1 s\) and was terminated`)
	s.prompt()
	if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 124\r\n") {
		t.Errorf("%q", got)
	}
	if after := s.run("stty -a"); after != modes {
		t.Errorf("the terminal's modes were %q and are %q", modes, after)
	}
}

// Time spent suspended is not the command's.
func TestTerminal_SuspendedTimeDoesNotCount(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	const limit = 8 * time.Second
	s.send(fmt.Sprintf("belay run --timeout %v -- sh -c 'echo rea''dy; read x; echo got $x'\r", limit))
	s.expect(`ready\r\n`)
	s.send(ctrlZ)
	s.expect(`Stopped`)
	s.prompt()
	time.Sleep(limit)
	s.send("fg\r")
	s.inFront()
	s.send("hello\r")
	s.expect(`got hello\r\n`)
	s.prompt()
}

// A wait is shown as one line that counts down, and Ctrl-C ends it at once.
func TestTerminal_CountdownInterrupted(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	s.send("belay run --max-retries 2 --base-delay 90s --max-delay 90s --jitter none -- sh -c 'echo rea''son >&2; exit 4'\r")
	s.expect(`reason; retrying in 1m30s \(retry 1 of 2\)\r\n`)
	s.expect(`1:[23]\d`)
	s.expect(`1:[012]\d`)
	s.send(ctrlC)
	s.prompt()
	if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 130\r\n") {
		t.Errorf("%q", got)
	}
}

// A wait can be suspended like anything else.
func TestTerminal_CountdownSuspended(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	s.send("belay run --max-retries 2 --base-delay 90s --max-delay 90s --jitter none -- sh -c 'echo rea''son >&2; exit 4'\r")
	s.expect(`reason; retrying in 1m30s \(retry 1 of 2\)\r\n`)
	s.expect(`1:2\d`)
	s.send(ctrlZ)
	s.expect(`Stopped`)
	s.prompt()
	s.send("fg\r")
	s.inFront()
	s.expect(`1:\d\d`)
	s.send(ctrlC)
	s.prompt()
	if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 130\r\n") {
		t.Errorf("%q", got)
	}
}

// Every attempt has the terminal.
func TestTerminal_EveryAttemptAsks(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	s.write("ask.sh", `printf 'Answer: ' > /dev/tty
read x < /dev/tty
echo "$x"
[ "$x" = right ]
`)
	s.send("belay run --max-retries 3 --base-delay 0 -- sh ask.sh\r")
	for _, answer := range []string{"wrong", "again", "right"} {
		s.expect(`Answer: $`)
		s.send(answer + "\r")
	}
	s.expect(`right\r\nright\r\n`)
	s.prompt()
	if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 0\r\n") {
		t.Errorf("%q", got)
	}
}

// A command that may be repeated still has the terminal, and Ctrl-C is meant for the whole run: whether the command dies of it,
// handles it and ends with a code of its own, or ignores it, which the second one ends.
func TestTerminal_RetriedAndInterrupted(t *testing.T) {
	t.Parallel()
	for name, does := range map[string]string{
		"Dies":    "echo rea''dy > /dev/tty; exec sleep 300",
		"Handles": "trap \"exit 1\" INT; echo rea''dy > /dev/tty; sleep 300 & wait",
		"Ignores": "trap \"\" INT TERM; echo rea''dy > /dev/tty; sleep 300; exit 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, "")
			s.send("belay run --max-retries 5 --base-delay 0 -- sh -c 'echo x >> n; " + does + "'\r")
			s.expect(`ready\r\n`)
			s.send(ctrlC)
			if name == "Ignores" { // two at once would be one
				again := time.AfterFunc(300*time.Millisecond, func() { s.send(ctrlC) })
				defer again.Stop()
				more := time.AfterFunc(20*time.Second, func() { s.send(ctrlC) })
				defer more.Stop()
			}
			s.prompt()
			if got := s.run("echo code $? $(wc -l < n)"); !strings.HasPrefix(got, "code 130 1\r\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

// The same in a pipeline, where belay and the command get the signal together.
func TestTerminal_RetriedAndInterruptedInPipeline(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	s.send("belay run --max-retries 5 --base-delay 0 -- sh -c 'echo x >> n; echo rea''dy > /dev/tty; exec sleep 300' | cat\r")
	s.expect(`ready\r\n`)
	s.send(ctrlC)
	s.prompt()
	if got := s.run("echo code ${PIPESTATUS[0]} $(wc -l < n)"); !strings.HasPrefix(got, "code 130 1\r\n") {
		t.Errorf("%q", got)
	}
}

// A command that ignores Ctrl-C ignores it every time, alone in front or in a pipeline.
func TestTerminal_CtrlCIgnored(t *testing.T) {
	everyWay(t, func(t *testing.T, b string) {
		s := newShell(t, b)
		s.write("ignore.sh", `trap '' INT
while [ -n "$1" ] && [ ! -e "$1" ]; do sleep 0.01; done
echo ready > /dev/tty
while [ ! -e stop ]; do sleep 0.05; done
exit 5
`)
		for _, line := range []string{"$B sh ignore.sh", "$B sh ignore.sh deaf | (trap '' INT; touch deaf; cat)"} {
			s.send(line + "; echo code ${PIPESTATUS[0]}\r")
			s.expect(`ready\r\n`)
			for range 3 {
				s.send(ctrlC)
				s.expect(`\^C`) // by the terminal, which sends the signal then
			}
			s.write("stop", "")
			s.expect(`code 5\r\n`)
			s.prompt()
			os.Remove(s.path("stop"))
		}
	})
}

// An agent leads a session of its own, where no Ctrl-C of the terminal reaches it: belay passes it on. What stands in for
// the agent only says whether it got it.
func TestTerminal_CtrlCForAgent(t *testing.T) {
	s := newShell(t, "belay run")
	// It writes to the terminal itself, since what an agent prints is held.
	s.run(`printf '#!/bin/sh\ntty=$TTY\ntrap "echo got it > $tty; kill %%1; exit 1" INT\nsleep 300 & echo rea""dy > $tty\nwait\n' > claude; chmod +x claude; export TTY=$(tty)`)
	s.send("$B ./claude -p hi\r")
	s.expect(`ready\r\n`)
	s.send(ctrlC)
	s.prompt()
	if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 130\r\n") {
		t.Errorf("%q", got)
	}
}

// Ctrl-C during a check is for the run: it ends with 130, whatever the shell of the check waits for. A check that goes on is killed by the second one.
func TestTerminal_CtrlCDuringCheck(t *testing.T) {
	s := newShell(t, "belay run")
	s.write("dies.sh", "echo ready >/dev/tty; sleep 300; true")
	s.write("lives.sh", "trap 'echo heard >/dev/tty' INT; echo ready >/dev/tty; while :; do sleep 0.05; done")
	for _, check := range []string{"dies", "lives"} {
		s.send("$B --check '. ./" + check + ".sh' -- true\r")
		s.expect(`ready\r\n`)
		s.send(ctrlC)
		if check == "lives" {
			s.expect(`heard\r\n`)
			s.send(ctrlC)
		}
		s.prompt()
		if got := s.run("echo code $?"); !strings.HasPrefix(got, "code 130\r\n") {
			t.Errorf("%s: %q", check, got)
		}
	}
}
