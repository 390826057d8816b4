package stream

import "strings"

// MaxTail is how much a [Tail] keeps.
const MaxTail = 4 << 10

// Tail is a writer that keeps the end of what is written to it, as what a failed command has said last. The zero value is empty.
type Tail struct{ kept []byte }

// Write implements [io.Writer].
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-MaxTail):]...)
	if over := len(t.kept) - MaxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *Tail) String() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }
