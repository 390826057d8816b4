package verdict

// How much of a stream is read to judge it. Programs name
// themselves at the start and say at the end why they stopped, so most of the
// evidence is at the end.
const (
	DefaultHead = 64 << 10
	DefaultTail = 128 << 10
)

// gap stands in an excerpt's text for what was left out.
const gap = "\n…\n"

// Excerpt is a bounded head and tail of a stream. A stream that fits is whole
// in Head, and Tail is empty.
type Excerpt struct {
	Head, Tail []byte
	Size       int64 // of the whole stream
}

// Truncated reports whether something is missing between head and tail.
func (e Excerpt) Truncated() bool {
	return e.Size > int64(len(e.Head)+len(e.Tail))
}

// Text returns head and tail, with a line "…" in between if something is
// missing there.
func (e Excerpt) Text() string {
	switch {
	case e.Truncated():
		return string(e.Head) + gap + string(e.Tail)
	case len(e.Tail) == 0:
		return string(e.Head)
	default:
		return string(e.Head) + string(e.Tail)
	}
}

// ExcerptOf returns the excerpt of a stream that is at hand. It may share
// memory with s.
func ExcerptOf[T ~string | ~[]byte](s T) Excerpt {
	e := Excerpt{Size: int64(len(s))}
	if len(s) <= DefaultHead+DefaultTail {
		e.Head = []byte(s)
		return e
	}
	e.Head = []byte(s[:DefaultHead])
	e.Tail = []byte(s[len(s)-DefaultTail:])
	return e
}
