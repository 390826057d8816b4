package agent

import (
	"bytes"

	"github.com/belay-run/belay/verdict"
)

// longReader spools a long line and abridges it while it comes.
type longReader struct {
	lines    *Lines
	spool    Spool // nil if the line is not kept
	pos      int64 // how much of the line has come
	tail     []byte
	abridged abridger
	text     *verdict.Capture // in place of abridged, for a line that is no JSON; nil for one that is
}

func newLongReader(l *Lines) *longReader {
	r := &longReader{lines: l}
	if l.Spool != nil {
		r.spool = l.Spool(l.pos)
	}
	if l.Lists {
		r.abridged.element = r.element
	}
	return r
}

func (r *longReader) write(p []byte) {
	if len(p) == 0 {
		return
	}
	if r.pos == 0 {
		if p[0] != '{' && p[0] != '[' {
			r.text = verdict.NewCapture(keptText, keptText)
		}
	}
	r.pos += int64(len(p))
	r.tail = append(r.tail[:0], p[max(0, len(p)-2):]...)
	if r.spool != nil {
		r.spool.Write(p)
	}
	if r.text != nil {
		r.text.Write(p)
	} else {
		r.abridged.write(p)
	}
}

// line is what has come.
func (r *longReader) line() Line {
	var line Line
	if r.text != nil {
		ends := r.text.Excerpt()
		line.Text = append(ends.Head, ends.Tail...)
	} else {
		line.Text = r.abridged.out
	}
	line.Text = bytes.TrimRight(line.Text, "\r\n")
	if r.spool != nil {
		end := int64(len(r.tail) - len(bytes.TrimRight(r.tail, "\r\n")))
		line.Long = &LongLine{spool: r.spool, size: r.pos - end, members: r.abridged.members, cuts: r.abridged.cuts}
	}
	return line
}

// element is called for an object in a list.
func (r *longReader) element(text []byte) {
	line := Line{Text: text}
	if len(r.abridged.cuts) > 0 && r.spool != nil {
		line.Long = &LongLine{spool: r.spool, cuts: r.abridged.cuts}
		r.abridged.cuts = nil
	}
	r.lines.Each(line)
}

// keptText is how much is kept of the beginning and of the end of a text.
const keptText = 128 << 10
