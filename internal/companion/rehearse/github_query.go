package rehearse

import (
	"fmt"
	"strconv"
	"strings"
)

// selection is a field of a GraphQL query, or a fragment that stands for some.
type selection struct {
	alias, name string
	args        map[string]any
	on          string // of an inline fragment: the type that it is for
	fragment    string // of a spread: its name
	inline      bool
	set         []selection
}

// query is a GraphQL document: its operations and fragments.
type query struct {
	operations []operation
	fragments  map[string]selection
}

type operation struct {
	kind, name string
	defaults   map[string]any
	set        []selection
}

// variable stands in a query for a value that comes with it.
type variable string

// parseQuery reads as much of GraphQL as gh and users of gh api need.
func parseQuery(text string) (q *query, err error) {
	p := &queryParser{text: text}
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(queryError)
			if !ok {
				panic(r)
			}
			err = fault
		}
	}()
	p.next()
	q = &query{fragments: map[string]selection{}}
	for p.token != "" {
		switch p.token {
		case "{":
			q.operations = append(q.operations, operation{kind: "query", set: p.set()})
		case "query", "mutation", "subscription":
			q.operations = append(q.operations, p.operation())
		case "fragment":
			p.next()
			name := p.take()
			p.expect("on")
			on := p.take()
			q.fragments[name] = selection{on: on, inline: true, set: p.set()}
		default:
			p.fail()
		}
	}
	if len(q.operations) == 0 {
		return nil, queryError("A query attribute must be specified and must be a string.")
	}
	return q, nil
}

type queryError string

func (e queryError) Error() string { return string(e) }

// queryParser goes from token to token. A string's token begins with a quotation mark.
type queryParser struct {
	text  string
	at    int
	token string
}

func (p *queryParser) fail() {
	panic(queryError(fmt.Sprintf("Parse error on %q", p.token)))
}

func (p *queryParser) take() string {
	token := p.token
	if token == "" {
		p.fail()
	}
	p.next()
	return token
}

func (p *queryParser) expect(token string) {
	if p.token != token {
		p.fail()
	}
	p.next()
}

func (p *queryParser) next() {
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c == '#' {
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		} else if strings.IndexByte(" \t\r\n,", c) >= 0 {
			p.at++
		} else {
			break
		}
	}
	begin := p.at
	switch {
	case p.at >= len(p.text):
	case strings.HasPrefix(p.text[p.at:], "..."):
		p.at += 3
	case strings.HasPrefix(p.text[p.at:], `"""`):
		end := strings.Index(p.text[p.at+3:], `"""`)
		if end < 0 {
			p.at = len(p.text)
		} else {
			p.at += end + 6
		}
	case p.text[p.at] == '"':
		for p.at++; p.at < len(p.text) && p.text[p.at] != '"'; p.at++ {
			if p.text[p.at] == '\\' {
				p.at++
			}
		}
		p.at = min(p.at+1, len(p.text))
	case isQueryWord(p.text[p.at]):
		for p.at < len(p.text) && isQueryWord(p.text[p.at]) && !strings.HasPrefix(p.text[p.at:], "...") { // a number has one dot
			p.at++
		}
	default:
		p.at++
	}
	p.token = p.text[begin:p.at]
}

func isQueryWord(c byte) bool {
	return c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (p *queryParser) operation() operation {
	op := operation{kind: p.take(), defaults: map[string]any{}}
	if p.token != "{" && p.token != "(" && p.token != "@" {
		op.name = p.take()
	}
	if p.token == "(" {
		p.next()
		for p.token != ")" {
			p.expect("$")
			name := p.take()
			p.expect(":")
			for p.token == "[" {
				p.next()
			}
			p.take()
			for p.token == "]" || p.token == "!" {
				p.next()
			}
			if p.token == "=" {
				p.next()
				op.defaults[name] = p.value()
			}
		}
		p.next()
	}
	p.directives()
	op.set = p.set()
	return op
}

func (p *queryParser) set() (set []selection) {
	p.expect("{")
	for p.token != "}" {
		var s selection
		if p.token == "..." {
			p.next()
			switch {
			case p.token == "on":
				p.next()
				s.on = p.take()
				s.inline = true
			case p.token == "{" || p.token == "@":
				s.inline = true
			default:
				s.fragment = p.take()
			}
			p.directives()
			if s.inline {
				s.set = p.set()
			}
			set = append(set, s)
			continue
		}
		s.name = p.take()
		s.alias = s.name
		if p.token == ":" {
			p.next()
			s.name = p.take()
		}
		if p.token == "(" {
			s.args = p.arguments()
		}
		p.directives()
		if p.token == "{" {
			s.set = p.set()
		}
		set = append(set, s)
	}
	p.next()
	return set
}

func (p *queryParser) directives() {
	for p.token == "@" {
		p.next()
		p.take()
		if p.token == "(" {
			p.arguments()
		}
	}
}

func (p *queryParser) arguments() map[string]any {
	args := map[string]any{}
	p.expect("(")
	for p.token != ")" {
		name := p.take()
		p.expect(":")
		args[name] = p.value()
	}
	p.next()
	return args
}

func (p *queryParser) value() any {
	switch token := p.take(); {
	case token == "$":
		return variable(p.take())
	case token == "[":
		list := []any{}
		for p.token != "]" {
			list = append(list, p.value())
		}
		p.next()
		return list
	case token == "{":
		fields := object{}
		for p.token != "}" {
			name := p.take()
			p.expect(":")
			fields[name] = p.value()
		}
		p.next()
		return fields
	case strings.HasPrefix(token, `"""`):
		return strings.TrimSpace(strings.Trim(token, `"`))
	case strings.HasPrefix(token, `"`):
		if s, err := strconv.Unquote(token); err == nil {
			return s
		}
		return strings.Trim(token, `"`)
	case token == "true", token == "false":
		return token == "true"
	case token == "null":
		return nil
	default:
		if n, err := strconv.ParseFloat(token, 64); err == nil {
			return n
		}
		return token // one of an enumeration
	}
}
