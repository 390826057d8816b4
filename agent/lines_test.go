package agent_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/verdict"
)

// piece is one call of Lines.Each.
type piece struct {
	raw, event string
	none, line bool // there is no event; it is a line's end
}

func cut(writes ...string) (pieces []piece) {
	lines := agent.Lines{Each: func(raw, event []byte, line bool) {
		pieces = append(pieces, piece{string(raw), string(event), event == nil, line})
	}}
	for _, w := range writes {
		if n, err := lines.Write([]byte(w)); n != len(w) || err != nil {
			panic(fmt.Sprint(n, err))
		}
	}
	lines.Close()
	return pieces
}

func TestLines(t *testing.T) {
	whole := func(raw, event string) piece { return piece{raw: raw, event: event, line: true} }
	for _, c := range []struct {
		writes []string
		want   []piece
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{"a\nb\n"}, []piece{whole("a\n", "a"), whole("b\n", "b")}},
		{[]string{"a", "b\nc", "\n"}, []piece{whole("ab\n", "ab"), whole("c\n", "c")}},
		{[]string{"a\r\nb"}, []piece{whole("a\r\n", "a"), whole("b", "b")}},
		{[]string{"\n\n"}, []piece{whole("\n", ""), whole("\n", "")}},
		{[]string{"a\r", "\n"}, []piece{whole("a\r\n", "a")}},
		{[]string{"no end"}, []piece{whole("no end", "no end")}},
	} {
		if got := cut(c.writes...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %+v, want %+v", c.writes, got, c.want)
		}
	}
}

// A line that is too long is passed on in pieces and never kept; the next one is read again.
func TestLines_TooLong(t *testing.T) {
	long := strings.Repeat("x", agent.MaxLine)
	var raw strings.Builder
	var events []string
	ends, nils := 0, 0
	lines := agent.Lines{Each: func(r, event []byte, line bool) {
		raw.Write(r)
		if event == nil {
			nils++
		} else {
			events = append(events, string(event))
		}
		if line {
			ends++
		}
	}}
	for _, w := range []string{"before\n", long, long, "x\n", "after\n", long + "xxx\n", "last"} {
		lines.Write([]byte(w))
	}
	lines.Close()
	if want := []string{"before", "after", "last"}; !slices.Equal(events, want) || ends != 5 || nils < 2 {
		t.Errorf("%q, %d ends, %d nil", events, ends, nils)
	}
	if want := len("before\n"+"x\n"+"after\n"+"xxx\n"+"last") + 3*len(long); raw.Len() != want {
		t.Errorf("%d bytes of %d", raw.Len(), want)
	}
	// Just what fits is an event.
	if got := cut(long[1:]+"\n", "b\n"); len(got) != 2 || got[0].none || !got[0].line {
		t.Errorf("%d pieces", len(got))
	}
}

// However it is cut into writes, the bytes are the same, and the lines.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), uint8(3))
	f.Add([]byte("{\"type\":\"x\"}\n"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var raw bytes.Buffer
		var events []string
		lines := agent.Lines{Each: func(r, event []byte, line bool) {
			raw.Write(r)
			if !line || event == nil {
				t.Error("a short line in pieces")
			}
			events = append(events, string(event))
		}}
		for rest := data; len(rest) > 0; {
			n := min(int(step)+1, len(rest))
			lines.Write(rest[:n])
			rest = rest[n:]
		}
		lines.Close()
		if !bytes.Equal(raw.Bytes(), data) {
			t.Errorf("%q, want %q", raw.Bytes(), data)
		}
		var want []string
		for l := range bytes.Lines(data) {
			want = append(want, string(bytes.TrimRight(l, "\r\n")))
		}
		if !slices.Equal(events, want) {
			t.Errorf("%q, want %q", events, want)
		}
	})
}

// recorder is a follower that remembers what it was shown.
type recorder struct{ lines []string }

func (r *recorder) Line(line []byte) agent.News {
	if line == nil {
		r.lines = append(r.lines, "(too long)")
	} else {
		r.lines = append(r.lines, string(line))
	}
	return agent.News{}
}

func (r *recorder) Judge(verdict.Outcome, time.Time) verdict.Verdict {
	return verdict.Verdict{Class: verdict.OK, Evidence: strings.Join(r.lines, "|")}
}
func (r *recorder) Account() agent.Account             { return agent.Account{} }
func (r *recorder) Render(io.Writer, agent.Form) error { return nil }
func (r *recorder) Answer() string                     { return "" }

// Of an outcome whose middle is missing, the end of a line is not taken for a whole one.
func TestReplay(t *testing.T) {
	for _, c := range []struct {
		head, tail string
		left       int64
		want       string
	}{
		{"a\nb\n", "", 0, "a|b"},
		{"a\nb", "c\nd\n", 0, "a|bc|d"},
		{"a\nhalf", "of one\nd\n", 100, "a|half|d"},
		{"a\n", "no end of a line", 100, "a"},
		{"", "", 0, ""},
	} {
		o := verdict.Outcome{Stdout: verdict.Excerpt{Head: []byte(c.head), Tail: []byte(c.tail), Size: int64(len(c.head)+len(c.tail)) + c.left}}
		if got := agent.Replay(&recorder{}, o, time.Time{}).Evidence; got != c.want {
			t.Errorf("%q … %q: %q, want %q", c.head, c.tail, got, c.want)
		}
	}
}
