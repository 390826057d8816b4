package gh

import (
	"encoding/json"
	"strings"
)

// queryOf is the query in the body of a GraphQL request; empty if there is none.
func queryOf(body []byte) string {
	var q struct{ Query string }
	json.Unmarshal(body, &q) // what is not there stays empty
	return q.Query
}

// isMutation reports whether a GraphQL document has an operation that changes something.
func isMutation(document string) bool {
	kind, _ := operation(document, "mutation")
	return kind != ""
}

// operation finds the first operation in a GraphQL document, of that kind if one is given: "query", "mutation" or
// "subscription", and its name. What stands in braces, parentheses, strings and comments is no operation.
func operation(document, wanted string) (kind, name string) {
	depth := 0
	for i := 0; i < len(document); {
		switch c := document[i]; {
		case c == '#':
			i = after(document, i, "\n")
		case strings.HasPrefix(document[i:], `"""`):
			i = after(document, i+3, `"""`)
		case c == '"':
			i = afterString(document, i)
		case c == '{' || c == '(':
			depth++
			i++
		case c == '}' || c == ')':
			depth--
			i++
		case isName(c):
			word := document[i:endOfName(document, i)]
			i += len(word)
			if depth > 0 || word != "query" && word != "mutation" && word != "subscription" || wanted != "" && word != wanted {
				continue
			}
			for i < len(document) && strings.IndexByte(" \t\r\n,", document[i]) >= 0 {
				i++
			}
			return word, document[i:endOfName(document, i)]
		default:
			i++
		}
	}
	return "", ""
}

// after is the place behind the next mark.
func after(s string, from int, mark string) int {
	if from > len(s) {
		return len(s)
	}
	if i := strings.Index(s[from:], mark); i >= 0 {
		return from + i + len(mark)
	}
	return len(s)
}

// afterString is the place behind the string that begins at i. It never reaches beyond its line.
func afterString(s string, i int) int {
	for i++; i < len(s) && s[i] != '"' && s[i] != '\n'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(s))
}

func isName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func endOfName(s string, i int) int {
	for i < len(s) && isName(s[i]) {
		i++
	}
	return i
}
