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
	if err := os.Mkdir(s.path(".logs"), 0o700); err != nil { // else it is said that there is one now
		t.Fatal(err)
	}
	for _, kv := range stagePlay(t, s.dir, "claude", acts...) {
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
	w := watchShell(t, 120, working)
	w.send("belay run -- claude -p hi\r")
	w.sees(inStatus + `.* · 12k in, 1 out$`)
	for _, now := range []int{50, 140, 120} {
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
			w.run(line + "; echo")
			if got := strings.Contains(w.shown(), "claude 0:"); got != drawn {
				t.Errorf("%v: %q", got, w.shown())
			}
			if got := w.look(); strings.Contains(got, "claude 0:") {
				t.Errorf("%q", got)
			}
		})
	}
}

// A real terminal: tmux wraps lines anew when it is resized. Near the top of an empty screen it then moves lines into its history that begin
// there, where nothing can erase them; so the line is wrapped once there, and several times where a screen is full.
func TestStatusLine_Tmux(t *testing.T) {
	need(t, "tmux")
	t.Parallel()
	t.Run("Top", func(t *testing.T) { t.Parallel(); inTmux(t, "true", 60) })
	t.Run("Bottom", func(t *testing.T) { t.Parallel(); inTmux(t, "seq 20", 60, 120, 50) })
}

// inTmux runs an agent after another command in a window of tmux, and resizes that to these columns.
func inTmux(t *testing.T, before string, widths ...int) {
	w := watchShell(t, 80, working)
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-S", w.path("socket"), "-f", "/dev/null"}, args...)...)
		cmd.Dir = w.dir
		cmd.Env = append(environment(programs(t), w.dir, w.id), "TERM=xterm", "BELAY_LOG_DIR=none", "PLAY="+w.path("plays"),
			"PATH="+programs(t)+":"+filepath.Join(w.dir, "players")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	tmux("new-session", "-d", "-s", "s", "-x", "100", "-y", "10", "PS1='$ ' exec bash --norc --noprofile --noediting -i")
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
	sees("the prompt", func(text string) bool { return text == "$" })
	tmux("send-keys", "-t", "s", before, "Enter")
	sees("the next prompt", func(text string) bool { return text != "$" && strings.HasSuffix(text, "\n$") })
	tmux("send-keys", "-t", "s", "belay run -- claude -p hi", "Enter")
	sees("100 columns", fits(100))
	for _, cols := range widths {
		tmux("resize-window", "-t", "s", "-x", strconv.Itoa(cols))
		sees(strconv.Itoa(cols)+" columns", fits(cols))
	}
	tmux("send-keys", "-t", "s", "C-z")
	sees("Ctrl-Z", func(text string) bool { return strings.Contains(text, "Stopped") && !status.MatchString(text) })
	tmux("send-keys", "-t", "s", "clear; fg", "Enter")
	sees("fg", fits(widths[len(widths)-1]))
	w.goOn()
	sees("the end", func(text string) bool { return text == "belay run -- claude -p hi\ndone\n$" })
}

// another is a command of the same user in another terminal.
func (s *screen) another(args ...string) *exec.Cmd {
	env := environment(programs(s.t), s.dir, s.id)
	cmd := exec.Command(lookIn(env, args[0]), args[1:]...)
	cmd.Dir, cmd.Env = s.dir, env
	return cmd
}

// onlyRun is the id of the run that is under way.
func (s *screen) onlyRun() string {
	s.t.Helper()
	var id string
	eventually(s.t, "there is one run", func() bool {
		out, err := s.another("belay", "ps", "--json").Output()
		found := regexp.MustCompile(`"id":"([^"]+)"`).FindAllSubmatch(out, -1)
		if err != nil || len(found) != 1 {
			return false
		}
		id = string(found[0][1])
		return true
	})
	return id
}

// However belay is stopped, nothing is left of the line, and one line says why if that was done from elsewhere.
func TestStatusLine_Stopped(t *testing.T) {
	t.Parallel()
	const resume = "(belay: .*--resume.*\n)?"
	for name, tt := range map[string]struct {
		stop func(w *watched)
		want string
		code string
	}{
		"SIGTERM": {func(w *watched) { syscall.Kill(w.process("^belay run"), syscall.SIGTERM) }, resume, "143"},
		"SIGHUP":  {func(w *watched) { syscall.Kill(w.process("^belay run"), syscall.SIGHUP) }, resume, "129"},
		"CtrlC":   {func(w *watched) { w.send(ctrlC) }, `(\^C)?` + resume + `\n?`, "130"},
		"Cancel": {func(w *watched) {
			if out, err := w.another("belay", "cancel", w.onlyRun()).CombinedOutput(); err != nil {
				w.t.Errorf("%v: %s", err, out)
			}
		}, `belay: stopped claude: cancelled by belay cancel \(pid \d+\)\n` + resume, "143"},
		"Replace": {func(w *watched) {
			if out, err := w.another("belay", "run", "--scope", "one", "--on-busy", "replace", "--", "true").CombinedOutput(); err != nil {
				w.t.Errorf("%v: %s", err, out)
			}
		}, `belay: stopped claude: replaced by run [0-9a-f]{8}\n` + resume, "143"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watchShell(t, 200, working)
			w.send("belay run --scope one -- claude -p hi\r")
			w.sees(inStatus)
			tt.stop(w)
			w.prompt()
			if got := w.look(); !regexp.MustCompile(`^\$ belay run --scope one -- claude -p hi\n`+tt.want+`\$$`).MatchString(got) || len(w.see.Faults()) > 0 {
				t.Errorf("%q, %q", got, w.see.Faults())
			}
			if got := w.run("echo code $?"); !strings.HasPrefix(got, "code "+tt.code+"\r\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

// On twenty columns there is a short line, below that none, and neither wraps.
func TestStatusLine_Narrow(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 80, working)
	w.run("r() { belay run -- claude -p hi; }")
	w.look()
	w.narrow(20)
	w.see = termtest.New(20)
	w.send("r\r")
	w.sees(`r\nbelay: claude 0:\d\d$`)
	w.narrow(19)
	w.sees(`r\n$`)
	w.narrow(24)
	w.sees(`r\nbelay: claude 0:\d\d`)
	w.goOn()
	w.prompt()
	w.shows("r\ndone\n$")
}

// Waits are counted down, Belay's own and those of the CLI, and leave what was said of them.
func TestStatusLine_Countdowns(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 120, "begin\nfail 529", `begin
line '"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":40000,"error_status":529'
while [ ! -e "$PLAY/go" ]; do sleep 0.1; done
result 0.25 12000 300 12000 300`)
	w.send("belay run --base-delay 4s --jitter none -- claude -p hi\r")
	w.sees(`\nbelay: claude hit an overloaded server[^\n]*\nbelay: retry 1 of \d+: 0:0[2-4], at \d\d:\d\d:\d\d UTC$`)
	w.sees(`\nbelay: retry 1 of \d+: 0:01, at `)
	w.sees(`\nbelay: claude 0:\d\d · retrying in [23]\ds`)
	w.goOn()
	w.prompt()
	got := w.look()
	if !regexp.MustCompile(`^\$ belay run [^\n]*\n(belay: claude [^\n]*\n){1,2}done\n\$$`).MatchString(got) || strings.Contains(got, "0:0") || len(w.see.Faults()) > 0 || w.see.Wrapped() > 0 {
		t.Errorf("%q, %q", got, w.see.Faults())
	}
}

// With --quiet there is nothing but the answer, also where there is something to wait for.
func TestStatusLine_Quiet(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 120, "begin\nfail 529", "begin\nspeak m1 12000\nsleep 3.2\nresult 0.25 12000 300 12000 300")
	if got := w.run("belay run --quiet --base-delay 3s --jitter none -- claude -p hi"); got != "done\r\n" {
		t.Errorf("%q", got)
	}
}

// NO_COLOR turns off colours and nothing else.
func TestStatusLine_NoColor(t *testing.T) {
	t.Parallel()
	w := watchShell(t, 80, working)
	w.run("export NO_COLOR=1")
	w.look()
	w.see = termtest.New(80)
	from := len(w.shown())
	w.send("belay run -- claude -p hi\r")
	w.sees(inStatus)
	w.goOn()
	w.prompt()
	w.shows("belay run -- claude -p hi\ndone\n$")
	if got := w.shown()[from:]; regexp.MustCompile("\x1b\\[[0-9;]*m").MatchString(got) {
		t.Errorf("%q", got)
	}
}
