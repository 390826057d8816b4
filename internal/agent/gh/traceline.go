package gh

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// header reads "< Name: value".
func header(text []byte, mark byte) (name, value string, ok bool) {
	if len(text) < 2 || text[0] != mark || text[1] != ' ' {
		return "", "", false
	}
	name, value, ok = strings.Cut(string(text[2:min(len(text), 4096)]), ": ")
	if !ok { // one without a value
		name, ok = strings.CutSuffix(name, ":")
	}
	return name, value, ok && !strings.Contains(name, " ")
}

// statusOf is the status in "< HTTP/1.1 403 Forbidden"; 0 if it is no such line.
func statusOf(text []byte) int {
	rest, ok := bytes.CutPrefix(text, []byte("< HTTP/"))
	if !ok {
		return 0
	}
	return statusAfter(string(rest[:min(len(rest), 100)]))
}

// statusAfter is the status in "1.1 403 Forbidden".
func statusAfter(rest string) int {
	_, rest, _ = strings.Cut(rest, " ")
	if len(rest) < 3 || len(rest) > 3 && rest[3] != ' ' {
		return 0
	}
	status, err := strconv.Atoi(rest[:3])
	if err != nil || status < 100 {
		return 0
	}
	return status
}

// shownRaw reports whether the trace shows bodies of this type as they are.
func shownRaw(contentType string) bool {
	return !isJSON(contentType) && (strings.HasPrefix(contentType, "text/") || strings.HasPrefix(contentType, "application/x-www-form-urlencoded"))
}

// isJSON reports whether gh takes a content type for JSON.
func isJSON(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json")
}

// remarks are what the trace says about a body, where it does not show it.
var remarks = []string{"* body contains binary data", "* body is too long", "* panic while", "* error on "}

func isRemark(text []byte) bool {
	return slices.ContainsFunc(remarks, func(r string) bool { return bytes.HasPrefix(text, []byte(r)) })
}
