package outcome

import (
	"errors"
	"io"

	"github.com/belay-run/belay/verdict"
)

// ReadExcerpt reads the excerpt of a stream that was saved to a file of that
// size, without reading what lies between head and tail. A file that has become
// shorter meanwhile is no error.
func ReadExcerpt(r io.ReaderAt, size int64) (verdict.Excerpt, error) {
	if size <= verdict.DefaultHead+verdict.DefaultTail {
		head, err := readAt(r, 0, max(size, 0))
		return verdict.Excerpt{Head: head, Size: int64(len(head))}, err
	}
	head, err := readAt(r, 0, verdict.DefaultHead)
	if err != nil {
		return verdict.Excerpt{}, err
	}
	tail, err := readAt(r, size-verdict.DefaultTail, verdict.DefaultTail)
	if err != nil {
		return verdict.Excerpt{}, err
	}
	return verdict.Excerpt{Head: head, Tail: tail, Size: size}, nil
}

func readAt(r io.ReaderAt, off, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := r.ReadAt(buf, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buf[:got], err
}
