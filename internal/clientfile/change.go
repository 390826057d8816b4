package clientfile

import "bytes"

// change replaces a piece of the text.
type change struct {
	from, to int
	text     string
}

// editor makes the changes that put belay in front of the entries of a file, or take it away.
type editor struct{ *File }

// pastComma is where a list goes on behind an item, its comma and the one blank that Install writes after it. A client that has
// written the file anew may have put line breaks in the place of the blank, which then stay for the next item; and TOML may have
// a comma after the last one.
func (f editor) pastComma(args *node, item int) int {
	end, limit, last := args.items[item].to, args.to-1, item+1 == len(args.items)
	if !last {
		limit = args.items[item+1].from
	}
	comma := f.comma(end, limit)
	if comma < 0 {
		return end
	}
	if end = comma + 1; !last && f.Text[end] == ' ' {
		end++
	}
	return end
}

// comma is where a comma stands among white space and comments; -1 if there is none.
func (f editor) comma(from, to int) int {
	for at := from; at < to; at++ {
		size, end := 0, "\n"
		switch rest := f.Text[at:to]; {
		case rest[0] == ',':
			return at
		case bytes.HasPrefix(rest, []byte("/*")):
			size, end = len("/*"), "*/"
		case rest[0] == '/' || rest[0] == '#':
			size = 1
		}
		if size == 0 {
			continue
		}
		next := bytes.Index(f.Text[at+size:to], []byte(end))
		if next < 0 {
			return -1
		}
		at += size + next + len(end) - 1
	}
	return -1
}
