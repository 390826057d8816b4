package rehearse

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
)

// operation is what a GraphQL request asks for: fields, and the arguments of all of them.
type operation struct {
	kind, name string
	query      string
	args       object
	set        selection
	fragments  map[string]selection
}

// selection are the fields that are asked for, by their names in the answer. A fragment is one whose name begins with dots.
type selection map[string]field

type field struct {
	name string
	set  selection
}

var (
	tokenForm    = regexp.MustCompile(`\.\.\.|"""(?s:.*?)"""|"(?:\\.|[^"\\])*"|#.*|@?\w+|[{}():]`)
	argumentForm = regexp.MustCompile(`(\w+)\s*:\s*(?:"([^"]*)"|(\d+)|\$(\w+))`)
	labelForm    = regexp.MustCompile(`(\w+)\s*:\s*label\(name:\s*"([^"]*)"\)`)
)

// parseOperation reads the first operation of a request.
func parseOperation(body []byte) *operation {
	var q struct {
		Query     string
		Variables object
	}
	json.Unmarshal(body, &q)
	op := &operation{kind: "query", query: q.Query, args: object{}, fragments: map[string]selection{}}
	for _, m := range slices.Backward(argumentForm.FindAllStringSubmatch(q.Query, -1)) { // of two with the same name the outer one is first
		switch n, err := strconv.ParseFloat(m[3], 64); {
		case err == nil:
			op.args[m[1]] = n
		case m[4] != "":
			op.args[m[1]] = q.Variables[m[4]]
		default:
			op.args[m[1]] = m[2]
		}
	}
	maps.Copy(op.args, q.Variables)

	tokens := &tokens{list: tokenForm.FindAllString(q.Query, -1)}
	var heading []string
	for t := tokens.next(); t != ""; t = tokens.next() {
		if t != "{" {
			heading = append(heading, t)
			continue
		}
		set := tokens.selection()
		switch {
		case len(heading) > 1 && heading[0] == "fragment":
			op.fragments["..."+heading[1]] = set
		case op.set == nil:
			op.set = set
			if len(heading) > 0 {
				op.kind = heading[0]
			}
			if len(heading) > 1 {
				op.name = heading[1]
			}
		}
		heading = nil
	}
	return op
}

// tokens are the tokens of a query, without comments, directives and what is in parentheses.
type tokens struct{ list []string }

func (t *tokens) next() (token string) {
	for depth := 0; len(t.list) > 0; {
		token, t.list = t.list[0], t.list[1:]
		switch {
		case token == "(":
			depth++
		case token == ")":
			depth--
		case depth <= 0 && token[0] != '#' && token[0] != '@':
			return token
		}
	}
	return ""
}

// selection reads fields up to the brace that ends them.
func (t *tokens) selection() selection {
	set := selection{}
	var last string // the field whose own fields may follow
	for token := t.next(); token != "" && token != "}"; token = t.next() {
		switch token {
		case "{":
			f := set[last]
			f.set = t.selection()
			set[last] = f
		case ":": // what was read was an alias
			set[last] = field{name: t.next()}
		case "...":
			name := t.next()
			last = fmt.Sprint(token, name, len(set))
			set[last] = field{name: token + name}
			if name == "on" {
				t.next() // a type: what it does not have is null
				set[last] = field{name: token}
			} else if name == "{" {
				set[last] = field{name: token, set: t.selection()}
			}
		default:
			last = token
			set[last] = field{name: token}
		}
	}
	return set
}

// project is what a selection takes of a value. What an object does not have is null.
func (op *operation) project(value any, set selection) any {
	switch v := value.(type) {
	case object:
		out := object{}
		op.merge(out, v, set)
		return out
	case []object:
		list := make([]any, len(v))
		for i := range v {
			list[i] = op.project(v[i], set)
		}
		return list
	}
	return value
}

func (op *operation) merge(out, from object, set selection) {
	for alias, f := range set {
		switch own, isFragment := op.fragments[f.name]; {
		case f.name == "...":
			op.merge(out, from, f.set)
		case isFragment:
			delete(op.fragments, f.name) // one that names itself has an end
			op.merge(out, from, own)
			op.fragments[f.name] = own
		default:
			key := f.name
			if key == "label" {
				key = alias
			}
			value := op.project(from[key], f.set)
			old, both := out[alias].(object)
			if fields, ok := value.(object); both && ok { // asked for twice, with different fields
				maps.Copy(old, fields)
			} else if value != nil || !both {
				out[alias] = value
			}
		}
	}
}
