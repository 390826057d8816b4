//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term/termtest"
)

// working is an agent that runs a tool until it is let go on.
const working = `begin
echo $$ > "$PLAY/pid"
speak m1 12000
line '"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"npm test 漢字 --token=ghp_0123456789abcdefghijABCDEFGHIJ012345 ` + `and a good many more words than fit into any line of eighty columns"}}]}'
while [ ! -e "$PLAY/go" ]; do sleep 0.1; done
answer t1
result 0.25 12000 300 12000 300`

// watched is a shell on a terminal, and what is to be seen there.
type watched struct {
	*screen
	see  *termtest.Terminal
	from int // what is shown from there on has not been seen yet
}

// watchShell is a shell in which claude plays these acts, on a terminal of that many columns.
func watchShell(t *testing.T, cols int, acts ...string) *watched {
	t.Helper()
	s := newShell(t, "")
	for _, kv := range append(stagePlay(t, s.dir, "claude", acts...), "BELAY_LOG_DIR=none") { // else the first run tells of .logs
		s.run("export '" + kv + "'")
	}
	s.resize(24, uint16(cols))
	w := &watched{screen: s, see: termtest.New(cols), from: len(s.shown())}
	w.see.Write([]byte("$ "))
	return w
}

// look is what is to be seen now.
func (w *watched) look() string {
	shown := w.shown()
	w.see.Write([]byte(shown[w.from:]))
	w.from = len(shown)
	return w.see.Text()
}

// sees waits until what is to be seen matches.
func (w *watched) sees(pattern string) {
	w.t.Helper()
	re := regexp.MustCompile(pattern)
	if !within(testTimeout/2, func() bool { return re.MatchString(w.look()) }) {
		w.t.Fatalf("%q does not match %q", w.look(), pattern)
	}
}

// narrow changes the width of the terminal.
func (w *watched) narrow(cols int) {
	w.look()
	w.see.Resize(cols)
	w.resize(24, uint16(cols))
}

// goOn lets the agent go on.
func (w *watched) goOn() { w.t.Helper(); w.write("plays/go", "") }

// shows checks what is left on the terminal.
func (w *watched) shows(want string) {
	w.t.Helper()
	if got := w.look(); got != want || len(w.see.Faults()) > 0 || w.see.Wrapped() > 0 {
		w.t.Errorf("%q, want %q; %q, %d rows were wrapped", got, want, w.see.Faults(), w.see.Wrapped())
	}
}

const inStatus = `\nbelay: claude 0:\d\d · Bash npm test 漢字`

// The status line is as wide as the terminal at most, also when that is resized, and there is nothing left of it at the end.
func TestStatusLine_Widths(t *testing.T) {
	t.Parallel()
	for _, cols := range []int{80, 120, 200} {
		t.Run(strconv.Itoa(cols), func(t *testing.T) {
			t.Parallel()
			w := watchShell(t, cols, working)
			w.send("belay run -- claude -p hi\r")
			w.sees(inStatus + `.* · 12k in, 1 out$`)
			for _, now := range []int{50, 140, cols} {
				w.narrow(now)
				before, _ := w.see.Row()
				w.sees(`\nbelay: claude 0:`)
				if !within(testTimeout/2, func() bool { w.look(); row, _ := w.see.Row(); return row != before }) {
					t.Fatal("it is not redrawn")
				}
				row, column := w.see.Row()
				if text := w.look(); printable.Width(row) > now-1 || w.see.Widest() > now-1 || column != 0 || strings.Count(text, "claude 0:") != 1 || strings.Contains(text, "ghp_") {
					t.Errorf("%d columns: %q", now, text)
				}
			}
			w.goOn()
			w.prompt()
			w.shows("$ belay run -- claude -p hi\ndone\n$")
		})
	}
}

// Where the output flows live to the same terminal, it is the same as without a status line.
func TestStatusLine_BesideLiveOutput(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 120, "SESSION="+session(1)+"\n"+working)
	const command = "belay run -- claude -p hi --output-format stream-json --verbose"
	w.send(command + "\r")
	w.sees(inStatus)
	w.goOn()
	w.prompt()
	with := w.look()
	w.send("TERM=dumb " + command + "\r")
	w.prompt()
	without := strings.TrimPrefix(w.look(), with)
	if got := strings.TrimPrefix(with, "$"); strings.Replace(without, "TERM=dumb ", "", 1) != got || !strings.Contains(got, `"subtype":"init"`) || !strings.Contains(got, `"result":"done"`) {
		t.Errorf("with a status line %q\nwithout %q", got, without)
	}
}

// What stands in the line already stays, and so does what comes after.
func TestStatusLine_BehindHalfALine(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 100, working)
	w.send("printf 'Reviewing: '; belay run -- claude -p hi > answer\r")
	w.sees(`\nReviewing: belay: claude 0:`)
	w.goOn()
	w.prompt()
	w.shows("$ printf 'Reviewing: '; belay run -- claude -p hi > answer\nReviewing: $")
	if got := w.run("cat answer"); got != "done\r\n" {
		t.Errorf("%q", got)
	}
}

// Ctrl-Z clears it; it is not drawn in the background, and comes back in front.
func TestStatusLine_Suspended(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 80, working)
	w.send("belay run -- claude -p hi\r")
	for range 2 {
		w.sees(inStatus)
		w.send(ctrlZ)
		w.expect(`Stopped`)
		w.prompt()
		if got := w.look(); strings.Contains(got, "claude 0:") {
			t.Errorf("%q", got)
		}
		w.run("bg; sleep 2.5")
		if got := w.look(); strings.Contains(got, "claude 0:") {
			t.Errorf("in the background: %q", got)
		}
		w.send("fg\r")
	}
	w.sees(inStatus)
	w.goOn()
	w.prompt()
	if got := w.look(); strings.Contains(got, "claude 0:") || !strings.HasSuffix(got, "\ndone\n$") || len(w.see.Faults()) > 0 {
		t.Errorf("%q, %q", got, w.see.Faults())
	}
	if got := w.run("echo code $?"); !strings.HasPrefix(got, "code 0\r\n") {
		t.Errorf("%q", got)
	}
}

// An agent that is killed leaves no status line, and one that writes to the terminal by itself is seen.
func TestStatusLine_KilledChild(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 80, strings.Replace(working, "while", `while [ ! -e "$PLAY/direct" ]; do sleep 0.1; done; echo direct > $TERMINAL; touch "$PLAY/wrote"; while`, 1))
	w.run("export TERMINAL=$(tty)")
	w.from = len(w.shown())
	w.send("belay run --max-retries 0 -- claude -p hi\r")
	w.sees(inStatus)
	w.write("plays/direct", "")
	w.sees(`\ndirect.*\nbelay: claude 0:`)
	pid, err := os.ReadFile(w.path("plays/pid"))
	n, err2 := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	syscall.Kill(n, syscall.SIGKILL)
	w.prompt()
	if got := w.look(); regexp.MustCompile(`\nbelay: claude 0:`).MatchString(got) || len(w.see.Faults()) > 0 {
		t.Errorf("%q, %q", got, w.see.Faults())
	}
	if got := w.run("echo code $?"); !strings.HasPrefix(got, "code 137\r\n") {
		t.Errorf("%q", got)
	}
}

// It is drawn only where it can disturb nothing.
func TestStatusLine_WhereItIsDrawn(t *testing.T) {
	t.Parallel()
	const quick = "begin\nspeak m1 12000\nsleep 3.2\nresult 0.25 12000 300 12000 300"
	for line, drawn := range map[string]bool{
		"belay run -- claude -p hi > out":                true,
		"belay run -- claude -p hi > /dev/null":          true,
		"belay run -- claude -p hi | cat":                false,
		"belay run -- claude -p hi 2>&1 | cat":           false,
		"TERM=dumb belay run -- claude -p hi":            false,
		"belay run --quiet -- claude -p hi":              false,
		"belay run -- sh -c 'sleep 3.2'":                 false,
		"(belay run -- claude -p hi &) ; sleep 3.5":      false,
		"belay run --max-retries 1 -- sh -c 'sleep 3.2'": false,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			w := watchShell(t, 80, quick)
			w.send(line + "; echo code:$?\r")
			w.expect(`code:0\r\n`)
			if got := strings.Contains(w.shown(), "belay: claude 0:"); got != drawn {
				t.Errorf("%v: %q", got, w.shown())
			}
			if got := w.look(); strings.Contains(got, "claude 0:") {
				t.Errorf("%q", got)
			}
		})
	}
}

// A real terminal: tmux wraps lines anew when it is resized.
func TestStatusLine_Tmux(t *testing.T) {
	need(t, "tmux")
	t.Parallel()
	w := watchShell(t, 80, working)
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", w.path("socket"), "-f", "/dev/null"}, args...)...)
		cmd.Dir = w.dir
		cmd.Env = append(environment(w.dir, w.id), "TERM=xterm", "BELAY_LOG_DIR=none", "PLAY="+w.path("plays"),
			"PATH="+binDir+":"+filepath.Join(w.dir, "players")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	tmux("new-session", "-d", "-s", "s", "-x", "100", "-y", "10", "exec env 'PS1=$ ' bash --norc --noprofile --noediting -i")
	defer tmux("kill-server")
	pane := func() string { return tmux("capture-pane", "-p", "-S", "-", "-t", "s") }
	sees := func(what string, want func(string) bool) {
		t.Helper()
		if !within(testTimeout/2, func() bool { return want(pane()) }) {
			t.Fatalf("%s: %q", what, pane())
		}
	}
	status := regexp.MustCompile(`(?m)^belay: claude 0:\d\d · .*$`)
	fits := func(cols int) func(string) bool {
		return func(text string) bool {
			found := status.FindAllString(text, -1)
			return len(found) == 1 && printable.Width(found[0]) < cols && printable.Width(found[0]) > cols-4 && strings.HasSuffix(text, found[0])
		}
	}
	sees("a prompt", func(text string) bool { return text == "$" })
	tmux("send-keys", "-t", "s", "belay run -- claude -p hi", "Enter")
	sees("100 columns", fits(100))
	for _, cols := range []int{60, 120, 50} {
		tmux("resize-window", "-t", "s", "-x", strconv.Itoa(cols))
		sees(strconv.Itoa(cols)+" columns", fits(cols))
	}
	tmux("send-keys", "-t", "s", "C-z")
	sees("Ctrl-Z", func(text string) bool { return strings.Contains(text, "Stopped") && !status.MatchString(text) })
	tmux("send-keys", "-t", "s", "clear; fg", "Enter")
	sees("fg", fits(50))
	w.goOn()
	sees("the end", func(text string) bool { return text == "belay run -- claude -p hi\ndone\n$" })
}
