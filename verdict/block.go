package verdict

import (
	"strings"
	"time"
)

// blockReach bounds how far around a field its block is looked for.
const blockReach = 8 << 10

// block returns the lines around i that belong together: the headers of one
// response, or one JSON object of a stream of them.
func block(text string, i int) (start, end int) {
	low, high := max(i-blockReach, 0), min(i+blockReach, len(text))
	start = low + strings.LastIndexByte(text[low:i], '\n') + 1
	for start > low && !opensBlock(text[start:high]) {
		before := low + strings.LastIndexByte(text[low:start-1], '\n') + 1
		if isBlank(text[before : start-1]) {
			break
		}
		start = before
	}
	end = lineEnd(text, i, high)
	for end < high {
		next := lineEnd(text, end+1, high)
		if isBlank(text[end+1:next]) || opensBlock(text[end+1:next]) {
			break
		}
		end = next
	}
	return start, end
}

func lineEnd(text string, i, high int) int {
	if n := strings.IndexByte(text[i:high], '\n'); n >= 0 {
		return i + n
	}
	return high
}

// trace is what curl -v and GH_DEBUG=api put before a header.
const trace = "<>* \t"

func isBlank(line string) bool { return strings.Trim(line, trace) == "" }

func opensBlock(line string) bool {
	return line[:min(1, len(line))] == "{" || strings.HasPrefix(strings.TrimLeft(line, trace), "HTTP/")
}

// maxFields bounds how many fields of one block are weighed.
const maxFields = 64

// blockHint weighs the fields of the block that begins at start and ends with
// the text. What the service asks for directly goes before the resets of its
// limits; of several resets that count, all must have passed.
func blockHint(text string, start int, stems []int, now time.Time) Hint {
	var asked, resets Hint
	for n := len(stems) - 1; n >= max(len(stems)-maxFields, 0) && stems[n] >= start; n-- {
		f, ok := fieldAt(text, stems[n], now)
		switch {
		case !ok:
		case f.kind == limitReset:
			if !hasRoom(text[start:], f.name) {
				resets = later(resets, f.hint)
			}
		case f.kind == resetAt:
			if !hasRoom(object(text, start, stems[n]), f.name) {
				resets = later(resets, f.hint)
			}
		case asked.IsZero():
			asked = f.hint
		}
	}
	if asked.After > 0 {
		resets.After = 0
	}
	return later(asked, resets)
}

// object returns the JSON object around i, or all from start on if there is
// none. One line may tell of several limits.
func object(text string, start, i int) string {
	end := len(text)
	if n := strings.IndexByte(text[i:], '}'); n >= 0 {
		end = i + n
	}
	return text[start+strings.LastIndexByte(text[start:i], '{')+1 : end]
}

func later(a, b Hint) Hint {
	a.After = max(a.After, b.After)
	if b.At.After(a.At) {
		a.At, a.Inferred = b.At, b.Inferred
	}
	return a
}

// hasRoom reports whether the block says of the limit with that reset that it
// is not used up: a neighbour …remaining that is not 0, or a …status "allowed".
func hasRoom(block, reset string) bool {
	if v, ok := neighbour(block, reset, "remaining"); ok {
		n, _, ok := number(v)
		return ok && n > 0
	}
	v, ok := neighbour(block, reset, "status")
	return ok && len(v) >= len("allowed") && foldEqual(v[:len("allowed")], "allowed")
}

// neighbour returns the value of the field that is named like the reset, but
// with another word: X-Ratelimit-Remaining for X-Ratelimit-Reset. A plain
// resetsAt has plain neighbours.
func neighbour(block, reset, word string) (string, bool) {
	want := word
	if kindOf(reset) == limitReset {
		want = strings.Replace(strings.ToLower(reset), "reset", word, 1)
	}
	for i := indexFold(block, want, 0); i >= 0; i = indexFold(block, want, i+1) {
		end := i + len(want)
		if i > 0 && isNameByte(block[i-1]) || end < len(block) && isNameByte(block[end]) {
			continue
		}
		if v, ok := valueAfter(block[end:]); ok {
			return v, true
		}
	}
	return "", false
}
