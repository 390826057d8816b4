package gh

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
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

// graphqlToken matches what a GraphQL document consists of, as far as it matters: comments, strings, brackets and names.
var graphqlToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`#[^\n]*|"""(?s:.*?)(?:"""|$)|"(?:[^"\\\n]|\\(?s:.))*["\n]?|[{}()]|\w+`)
})

// operation finds the first operation in a GraphQL document, of that kind if one is given: "query", "mutation" or
// "subscription", and its name. What stands in braces, parentheses, strings and comments is no operation.
func operation(document, wanted string) (kind, name string) {
	depth := 0
	for _, at := range graphqlToken().FindAllStringIndex(document, -1) {
		switch word := document[at[0]:at[1]]; word {
		case "{", "(":
			depth++
		case "}", ")":
			depth--
		case "query", "mutation", "subscription":
			if depth <= 0 && (wanted == "" || word == wanted) {
				rest := strings.TrimLeft(document[at[1]:], " \t\r\n,")
				return word, rest[:len(rest)-len(strings.TrimLeftFunc(rest, isName))]
			}
		}
	}
	return "", ""
}

func isName(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
