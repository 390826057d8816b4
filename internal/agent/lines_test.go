package agent_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// memory is a spool.
type memory struct {
	bytes.Buffer
	closed bool
}

func (m *memory) Size() int64 { return int64(m.Len()) }

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.Bytes()).ReadAt(p, off)
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

func spool(int64) agent.Spool { return &memory{} }

// cut writes to Lines and returns the raw lines and their texts.
func cut(writes ...string) (raw, texts []string) {
	lines := agent.Lines{Spool: spool, Each: func(line agent.Line) {
		var b strings.Builder
		if _, err := line.WriteTo(&b); err != nil {
			panic(err)
		}
		raw, texts = append(raw, b.String()), append(texts, string(line.Text))
	}}
	for _, w := range writes {
		if n, err := lines.Write([]byte(w)); n != len(w) || err != nil {
			panic(fmt.Sprint(n, err))
		}
	}
	lines.Close()
	return raw, texts
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		writes, raw, texts []string
	}{
		{nil, nil, nil},
		{[]string{""}, nil, nil},
		{[]string{"a\nb\n"}, []string{"a\n", "b\n"}, []string{"a", "b"}},
		{[]string{"a", "b\nc", "\n"}, []string{"ab\n", "c\n"}, []string{"ab", "c"}},
		{[]string{"a\r\nb"}, []string{"a\r\n", "b"}, []string{"a", "b"}},
		{[]string{"\n\n"}, []string{"\n", "\n"}, []string{"", ""}},
		{[]string{"a\r", "\n"}, []string{"a\r\n"}, []string{"a"}},
		{[]string{"no end"}, []string{"no end"}, []string{"no end"}},
	} {
		if raw, texts := cut(c.writes...); !slices.Equal(raw, c.raw) || !slices.Equal(texts, c.texts) {
			t.Errorf("%q: %q and %q", c.writes, raw, texts)
		}
	}
}

// A long line comes whole, and its text abridged; the next one is read as ever.
func TestLines_Long(t *testing.T) {
	long := strings.Repeat("x", agent.MaxLine)
	raw, texts := cut("before\n", long, long, "x\r\n", "after\n", long+"xxx\n", long[1:]+"\n", "last")
	if len(raw) != 6 || raw[1] != long+long+"x\r\n" || raw[3] != long+"xxx\n" || raw[4] != long[1:]+"\n" {
		t.Fatalf("%d lines", len(raw))
	}
	if texts[0] != "before" || texts[2] != "after" || texts[5] != "last" || texts[4]+"x" != long[1:]+"x" && len(texts[4]) != agent.MaxLine-1 {
		t.Errorf("%.100q", texts)
	}
	if n := len(texts[1]); n == 0 || n > agent.MaxLine/2 {
		t.Errorf("of a line of %d bytes %d are kept", len(raw[1]), n)
	}
}

// However it is cut into writes, the bytes are the same, and the lines.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), uint8(3))
	f.Add([]byte("{\"type\":\"x\"}\n"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var writes []string
		for rest := data; len(rest) > 0; {
			n := min(int(step)+1, len(rest))
			writes = append(writes, string(rest[:n]))
			rest = rest[n:]
		}
		raw, texts := cut(writes...)
		if got := strings.Join(raw, ""); got != string(data) {
			t.Errorf("%q, want %q", got, data)
		}
		var want []string
		for l := range bytes.Lines(data) {
			want = append(want, string(bytes.TrimRight(l, "\r\n")))
		}
		if !slices.Equal(texts, want) {
			t.Errorf("%q, want %q", texts, want)
		}
	})
}

// recorder is a follower that remembers what it was shown.
type recorder struct{ lines []string }

func (r *recorder) Line(line agent.Line) agent.LineInfo {
	r.lines = append(r.lines, string(line.Text))
	return agent.LineInfo{}
}

func (r *recorder) Judge(verdict.Outcome, time.Time) verdict.Verdict {
	return verdict.Verdict{Class: verdict.OK, Evidence: strings.Join(r.lines, "|")}
}
func (r *recorder) Account() agent.Account             { return agent.Account{} }
func (r *recorder) Render(io.Writer, agent.Form) error { return nil }
func (r *recorder) Answer() agent.Answer               { return agent.Answer{} }

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
