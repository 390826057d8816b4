package message

import "strings"

// Nearest is the one of the names that was probably meant by a word; empty if none is near. The shorter the word, the less
// may be wrong with it: three letters become any other three too easily.
func Nearest(word string, names []string) string {
	most := 3
	switch n := len(word); {
	case n < 3:
		most = 0
	case n < 6:
		most = 1
	case n < 9:
		most = 2
	}
	best := ""
	word = strings.ToLower(word)
	for _, name := range names {
		if len(word) > len(name)+most || len(name) > len(word)+most {
			continue // each of these is an edit
		}
		if d := edits(word, name); d <= most {
			best, most = name, d-1
		}
	}
	return best
}

// edits is the number of edits between two words: a character that is missing, too many or another one, or two that have
// changed places.
func edits(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j-1]+cost, row[j]+1, next[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
