package outcome_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/verdict"
)

// whole is how much of a stream an excerpt has.
const whole = verdict.DefaultHead + verdict.DefaultTail

// What is read of a file is what a capture of all of it would have kept.
func TestReadExcerpt(t *testing.T) {
	stream := strings.Repeat("0123456789abcde\n", (whole+100)/16)
	for _, size := range []int{0, 5, whole, whole + 1, len(stream)} {
		c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
		io.WriteString(c, stream[:size])
		e, err := outcome.ReadExcerpt(strings.NewReader(stream[:size]), int64(size))
		if err != nil || e.Text() != c.Excerpt().Text() || e.Size != int64(size) {
			t.Errorf("%d bytes: %d, %v", size, e.Size, err)
		}
	}
}

func TestReadExcerpt_FileBecameShorter(t *testing.T) {
	e, err := outcome.ReadExcerpt(strings.NewReader("short"), 100)
	if err != nil || e.Text() != "short" || e.Truncated() {
		t.Errorf("got %q, %v", e.Text(), err)
	}
	e, err = outcome.ReadExcerpt(strings.NewReader("short"), 2*whole)
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
		if _, err := outcome.ReadExcerpt(test.r, test.size); !errors.Is(err, errBroken) {
			t.Errorf("%v: got %v", test, err)
		}
	}
}
