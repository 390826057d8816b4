package verdict_test

import (
	"bytes"
	"testing"

	"github.com/belay-run/belay/verdict"
)

const whole = verdict.DefaultHead + verdict.DefaultTail

func TestExcerptOf(t *testing.T) {
	for _, size := range []int{0, 1, verdict.DefaultHead, whole - 1, whole, whole + 1, 10 * whole} {
		stream := pattern(size)
		for name, e := range map[string]verdict.Excerpt{
			"bytes":  verdict.ExcerptOf(stream),
			"string": verdict.ExcerptOf(string(stream)),
		} {
			checkExcerpt(t, name, e, stream, verdict.DefaultHead, verdict.DefaultTail)
		}
	}
}

func checkExcerpt(t *testing.T, name string, e verdict.Excerpt, stream []byte, head, tail int) {
	t.Helper()
	if e.Size != int64(len(stream)) {
		t.Fatalf("%s: size %d, want %d", name, e.Size, len(stream))
	}
	if len(stream) <= head+tail {
		if e.Truncated() || len(e.Tail) != 0 || !bytes.Equal(e.Head, stream) || e.Text() != string(stream) {
			t.Fatalf("%s: a stream of %d bytes that fits is not whole", name, len(stream))
		}
		return
	}
	if !e.Truncated() || !bytes.Equal(e.Head, stream[:head]) || !bytes.Equal(e.Tail, stream[len(stream)-tail:]) {
		t.Fatalf("%s: head or tail of a stream of %d bytes is wrong", name, len(stream))
	}
	if want := string(e.Head) + "\n…\n" + string(e.Tail); e.Text() != want {
		t.Fatalf("%s: text of a stream of %d bytes is wrong", name, len(stream))
	}
}

func TestExcerpt_TailBesideHead(t *testing.T) {
	e := verdict.Excerpt{Head: []byte("one "), Tail: []byte("two"), Size: 7}
	if e.Truncated() || e.Text() != "one two" {
		t.Errorf("got %q", e.Text())
	}
}

// pattern returns bytes of which no two stretches look alike.
func pattern(size int) []byte {
	b := make([]byte, size)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}
