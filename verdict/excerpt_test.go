package verdict_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

const whole = verdict.DefaultHead + verdict.DefaultTail

func TestExcerptOf(t *testing.T) {
	for _, size := range []int{0, 1, verdict.DefaultHead, whole - 1, whole, whole + 1, 10 * whole} {
		stream := pattern(size)
		for name, e := range map[string]verdict.Excerpt{
			"bytes":  verdict.ExcerptOf(stream),
			"string": verdict.ExcerptOf(string(stream)),
			"file":   readExcerpt(t, stream),
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

func readExcerpt(t *testing.T, stream []byte) verdict.Excerpt {
	t.Helper()
	e, err := verdict.ReadExcerpt(bytes.NewReader(stream), int64(len(stream)))
	must.OK(t, err)
	return e
}

func TestExcerpt_TailBesideHead(t *testing.T) {
	e := verdict.Excerpt{Head: []byte("one "), Tail: []byte("two"), Size: 7}
	if e.Truncated() || e.Text() != "one two" {
		t.Errorf("got %q", e.Text())
	}
}

func TestReadExcerpt_FileBecameShorter(t *testing.T) {
	e, err := verdict.ReadExcerpt(strings.NewReader("short"), 100)
	if err != nil || e.Text() != "short" || e.Truncated() {
		t.Errorf("got %q, %v", e.Text(), err)
	}
	e, err = verdict.ReadExcerpt(strings.NewReader("short"), 2*whole)
	if err != nil || string(e.Head) != "short" || len(e.Tail) != 0 {
		t.Errorf("got %d and %d bytes, %v", len(e.Head), len(e.Tail), err)
	}
}

// broken fails to read from an offset on.
type broken struct{ from int64 }

var errBroken = errors.New("broken")

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off >= b.from {
		return 0, errBroken
	}
	return len(p), nil
}

func TestReadExcerpt_Errors(t *testing.T) {
	for _, test := range []struct {
		r    io.ReaderAt
		size int64
	}{
		{broken{0}, 10},
		{broken{0}, 2 * whole},
		{broken{1}, 2 * whole},
	} {
		if _, err := verdict.ReadExcerpt(test.r, test.size); !errors.Is(err, errBroken) {
			t.Errorf("%v: got %v", test, err)
		}
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
