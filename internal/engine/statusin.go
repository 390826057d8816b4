package engine

import (
	"strconv"

	"github.com/belay-run/belay/internal/lazy"
)

// statusWords is where a program says which HTTP status it has met: beside one of these words. Only what is an error counts.
var statusWords = lazy.Regexp(`(?i)(?:\bHTTP(?:/[\d.]+)?|(?:^|[^a-z])status(?: code)?|\bAPI error|\berror(?: code)?|(?:^|[^a-z])code)["']?[ :=(]{1,3}["']?([45]\d\d)(?:\D|$)`)

// statusIn is the HTTP status that a text names as that of an error, the last one of several; 0 if it names none. The text must
// be a program's own word on why it failed.
func statusIn(text string) int {
	found := statusWords.Get().FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return 0
	}
	status, _ := strconv.Atoi(found[len(found)-1][1]) // it is three digits
	return status
}
