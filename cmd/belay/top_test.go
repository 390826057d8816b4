//go:build linux

package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// picture is what a terminal shows after it was sent some bytes: its own screen, and the other one that full-screen programs use.
type picture struct {
	own, other [][]rune
	onOther    bool
	noCursor   bool
	noWrap     bool
	pasteMarks bool
	x, y       int
	rows, cols int // what can be seen
}

// pictureOf is the picture of all that a screen was sent.
func pictureOf(s *screen) *picture {
	p := &picture{}
	s.control(func(fd int) {
		if size, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ); err == nil {
			p.rows, p.cols = int(size.Row), int(size.Col)
		}
	})
	for text := s.shown(); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				break // the rest is on its way
			}
			p.control(rest[:end], rest[end])
			text = rest[end+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\r':
			p.x = 0
		case r == '\n':
			p.y++
		case r == '\b':
			p.x = max(0, p.x-1)
		case r == '\t':
			p.x = (p.x/8 + 1) * 8
		case r >= ' ':
			p.put(r)
		}
	}
	return p
}

func (p *picture) lines() *[][]rune {
	if p.onOther {
		return &p.other
	}
	return &p.own
}

func (p *picture) put(r rune) {
	lines := p.lines()
	for len(*lines) <= p.y {
		*lines = append(*lines, nil)
	}
	line := (*lines)[p.y]
	for len(line) <= p.x {
		line = append(line, ' ')
	}
	line[p.x] = r
	(*lines)[p.y] = line
	p.x++
}

func (p *picture) control(parameters string, final byte) {
	lines := p.lines()
	n, _ := strconv.Atoi(parameters)
	n = max(n, 1)
	switch final {
	case 'A':
		p.y = max(0, p.y-n)
	case 'B':
		p.y += n
	case 'C':
		p.x += n
	case 'D':
		p.x = max(0, p.x-n)
	case 'G':
		p.x = n - 1
	case 'd':
		p.y = n - 1
	case 'P', '@': // deletes or inserts characters
		line := (*lines)[p.y]
		at := min(p.x, len(line))
		if final == '@' {
			line = slices.Insert(line, at, slices.Repeat([]rune{' '}, n)...)
		} else {
			line = slices.Delete(line, at, min(at+n, len(line)))
		}
		(*lines)[p.y] = line
	case 'X': // erases characters
		x := p.x
		for range n {
			p.put(' ')
		}
		p.x = x
	case 'b': // repeats the character before
		before := (*lines)[p.y][p.x-1]
		for range n {
			p.put(before)
		}
	case 'H':
		row, column, _ := strings.Cut(parameters, ";")
		y, _ := strconv.Atoi(row)
		x, _ := strconv.Atoi(column)
		p.x, p.y = max(0, x-1), max(0, y-1)
	case 'K':
		if p.y < len(*lines) {
			(*lines)[p.y] = (*lines)[p.y][:min(p.x, len((*lines)[p.y]))]
		}
	case 'J':
		from := p.y
		if parameters == "2" {
			from = 0
		}
		*lines = (*lines)[:min(from, len(*lines))]
	case 'h', 'l':
		on := final == 'h'
		switch parameters {
		case "?1049":
			p.onOther, p.other = on, nil
			p.x, p.y = 0, len(p.own)
		case "?25":
			p.noCursor = !on
		case "?7":
			p.noWrap = !on
		case "?2004":
			p.pasteMarks = on
		}
	}
}

// String is the screen that is shown, without the spaces at the ends of its lines.
func (p *picture) String() string {
	var b strings.Builder
	for i, line := range *p.lines() {
		if p.onOther && i >= p.rows {
			break // the terminal was higher before
		}
		if p.onOther {
			line = line[:min(len(line), p.cols)]
		}
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

// sees waits until the screen shows something, and every one of several.
func (s *screen) sees(parts ...string) {
	s.t.Helper()
	ok := within(testTimeout/2, func() bool {
		text := pictureOf(s).String()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				return false
			}
		}
		return true
	})
	if !ok {
		s.t.Fatalf("the screen does not show %q:\n%s", parts, pictureOf(s))
	}
}

// noLongerSees waits until the screen does not show something any more.
func (s *screen) noLongerSees(part string) {
	s.t.Helper()
	if !within(testTimeout/2, func() bool { return !strings.Contains(pictureOf(s).String(), part) }) {
		s.t.Fatalf("the screen still shows %q:\n%s", part, pictureOf(s))
	}
}

// restored waits for the shell, and fails if belay top has ended with another code or left something behind: on the screen, or in the
// terminal's modes.
func (s *screen) restored(modes string, code int) {
	s.t.Helper()
	s.prompt()
	if got := s.run("code=$?; echo code:$code"); got != fmt.Sprintf("code:%d\r\n", code) {
		s.t.Errorf("%q, want %d", got, code)
	}
	if after := s.run("stty -a"); after != modes {
		s.t.Errorf("the terminal's modes were %q and are %q", modes, after)
	}
	p := pictureOf(s)
	if p.onOther || p.noCursor || p.noWrap || p.pasteMarks {
		s.t.Errorf("other screen %v, no cursor %v, no wrapping %v, marks at a paste %v", p.onOther, p.noCursor, p.noWrap, p.pasteMarks)
	}
	if text := p.String(); strings.Contains(text, "q quit") || strings.Contains(text, "today $") {
		s.t.Errorf("the screen was drawn over:\n%s", text)
	}
}

// process is the process of a command on a screen, by what its arguments match.
func (s *screen) process(pattern string) int {
	s.t.Helper()
	pid := 0
	eventually(s.t, pattern+" is a process", func() bool {
		for _, p := range marked(idVar + "=" + s.id) {
			if regexp.MustCompile(pattern).MatchString(p.args) {
				pid = p.pid
			}
		}
		return pid > 0
	})
	return pid
}

// Two runs are shown; one is looked at and cancelled by keys, while the terminal is resized; the terminal is as it was afterwards.
func TestTop_CancelsARun(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	modes := s.run("stty -a")
	s.run(`belay run -- sh -c 'touch a.ready; exec sleep 300' >/dev/null 2>&1 & A=$!`)
	s.await("a.ready")
	s.run(`belay run --name other -- env sh -c 'touch b.ready; exec sleep 300' >/dev/null 2>&1 & B=$!`)
	s.await("b.ready")
	s.run("belay gates hold api --until 30m --reason test")

	s.send("belay top --interval 100ms\r")
	s.sees("2 running", "› ", "  ID ", " sh ", " env ", "api   held", "q quit")
	s.resize(30, 120)
	s.sees("PID", "LABELS", "other")
	s.resize(10, 40)
	s.noLongerSees("PID")
	s.sees("COMMAND", "q quit")
	s.resize(24, 80)
	s.sees("  ID ", "Enter details")

	s.send("\r")
	s.sees("command    sh (profile generic)", "directory  ", "Esc back")
	s.send(escape)
	s.sees("Enter details")
	s.send("x")
	s.sees("Cancel ", " (sh)? (y/n)")
	s.send("n")
	s.sees("nothing was done")
	s.send("\x1b[200~xy\x1b[201~") // a text that is pasted is no answer
	s.send("x")
	s.sees(" (sh)? (y/n)")
	s.send("y")
	s.sees(" (sh) to stop", "1 running")
	s.noLongerSees("  sh ")

	s.send("\tr")
	s.sees("Reset gate api (held)? (y/n)")
	s.send("y")
	s.sees("gate api was reset", "all gates are healthy")
	s.send("?")
	s.sees("switch between runs and gates")
	s.send("q")
	s.restored(modes, 0)
	if got := s.run("wait $A; echo code:$?"); !strings.Contains(got, "code:143\r\n") {
		t.Errorf("the run that was cancelled ends with %q", got)
	}
	s.run("kill $B; wait $B")
}

// However it ends, the terminal is as it was.
func TestTop_RestoresTheTerminal(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	modes := s.run("stty -a")
	for _, way := range []struct {
		name string
		code int
		end  func()
	}{
		{"q", 0, func() { s.send("q") }},
		{"Ctrl-C", 0, func() { s.send(ctrlC) }},
		{"SIGTERM", 143, func() { syscall.Kill(s.process("belayd .* top"), syscall.SIGTERM) }},
		{"SIGHUP", 129, func() { syscall.Kill(s.process("belayd .* top"), syscall.SIGHUP) }},
		{"SIGSTOP, and then SIGTERM in the background", 0, func() {
			pid := s.process("belayd .* top")
			syscall.Kill(pid, syscall.SIGSTOP)
			s.expect(`Stopped`)
			s.prompt()
			syscall.Kill(pid, syscall.SIGTERM)
			syscall.Kill(pid, syscall.SIGCONT)
			eventually(t, "it ends", func() bool { return !running(pid) })
			s.send("true\r") // bash does not always say that the job has ended
		}},
	} {
		s.send("belay top\r")
		s.sees("q quit", "nothing is running")
		way.end()
		s.restored(modes, way.code)
	}
}

// Ctrl-Z gives the terminal back to the shell, and fg the screen back to belay top.
func TestTop_Suspended(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	modes := s.run("stty -a")
	s.send("belay top --interval 100ms\r")
	for range 2 {
		s.sees("q quit", "nothing is running")
		s.send(ctrlZ)
		s.expect(`Stopped`)
		s.restored(modes, 148)
		s.send("fg\r")
	}
	s.sees("q quit", "nothing is running")
	s.send("q")
	s.restored(modes, 0)
}

// What a killed belay has left is shown, and ended by the same key.
func TestTop_EndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	s := newShell(t, "")
	modes := s.run("stty -a")
	s.run(`belay run -- sh -c 'trap "" TERM; touch a.ready; while :; do sleep 0.2; done' >/dev/null 2>&1 & A=$!`)
	s.await("a.ready")
	s.run("kill -9 $A; wait $A")
	s.run("belay ps")
	s.send("belay top --interval 100ms\r")
	s.sees("1 killed", "killed, left running: ")
	s.send("x")
	s.sees(" left by killed runs? (y/n)")
	s.send("y")
	s.sees("ended ", "nothing is running")
	s.send("q")
	s.restored(modes, 0)
}

// await waits for a file.
func (s *screen) await(name string) {
	s.t.Helper()
	eventually(s.t, name, func() bool {
		_, err := os.Stat(s.path(name))
		return err == nil
	})
}

// What an agent does and has used so far is shown, and today's spending is what belay stats says too.
func TestTop_SpendsAsStatsDoes(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.play("claude", "begin; result 0.25 200 20 200 20", "begin; fail 529", "begin; turn 1 100 10; call m2 t2 Read; hang")
	r.play("codex", "begin; result 10 1")
	r.belay(first("claude")...)
	r.belay(first("codex")...)
	r.belay("--", "false")
	working := r.job("working", first("claude", "--stall-timeout", "0")...)
	eventually(t, "claude shows what it does", func() bool { return strings.Contains(r.says("top"), "tool Read (attempt 2)") })
	if text := r.says("top"); !strings.Contains(text, "1 running") || !strings.Contains(text, "claude") {
		t.Errorf("the screen is:\n%s", text)
	}
	type view struct {
		Runs []struct {
			State, Activity string
			Tokens          int
		}
		Gates, Budgets []any
		Today          struct {
			Runs, Failed, Attempts int
			Input                  int     `json:"input_tokens"`
			Output                 int     `json:"output_tokens"`
			Cost                   float64 `json:"cost_usd"`
			Unknown                int     `json:"unknown_costs"`
			Estimated              int     `json:"estimated_costs"`
		}
	}
	now := asked[view](r, "top")[0]
	if len(now.Runs) != 1 || now.Runs[0].Tokens != 110 || now.Runs[0].Activity != "tool Read" || now.Gates == nil || now.Budgets == nil {
		t.Errorf("%+v", now)
	}
	working.cmd.Process.Signal(syscall.SIGTERM)
	working.ends(t, 143)
	type stats struct {
		Total struct {
			Invocations, Succeeded, Attempts int
			Usage                            struct {
				Input  int     `json:"input_tokens"`
				Output int     `json:"output_tokens"`
				Cost   float64 `json:"total_cost_usd"`
			}
			Unknown   int `json:"unknown_costs"`
			Estimated int `json:"estimated_costs"`
		}
	}
	s, today := asked[stats](r, "stats", "--since", "today")[0].Total, asked[view](r, "top")[0].Today
	if today.Runs != s.Invocations || today.Failed != s.Invocations-s.Succeeded || today.Attempts != s.Attempts || today.Input != s.Usage.Input ||
		today.Output != s.Usage.Output || today.Cost != s.Usage.Cost || today.Unknown != s.Unknown || today.Estimated != s.Estimated || today.Runs != 4 {
		t.Errorf("top says %+v, stats %+v", today, s)
	}
}
