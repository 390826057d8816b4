package clientfile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

const (
	headerPrefix = "BELAY_HEADER_"
	headerFlag   = "--header-env"
	bearerFlag   = "--bearer-env"
	urlFlag      = "--url"
)

// remote reads a server without a command.
func (f *File) remote(e *Entry, n *node) {
	r := &f.Client.Remote
	parts := &remoteParts{kindType: n.member("type"), headers: n.member(r.Headers)}
	e.State = Unfit
	for _, kind := range r.Kinds {
		if m := n.member(kind.Key); m != nil && m.value.kind == kindText && kind.Type == n.string("type") {
			parts.url, parts.kind = m, kind
			break
		}
	}
	if e.Remote = parts.url != nil; !e.Remote {
		e.Why = f.unknownKind(n)
		return
	}
	e.URL, e.parts = parts.url.value.text, parts
	if e.Why = f.unfit(parts, n); e.Why != "" {
		return
	}
	if e.Why = f.readHeaders(parts); e.Why != "" {
		return
	}
	if e.Why = f.readVars(parts, n); e.Why != "" {
		return
	}
	e.State = Direct
	if !parts.hasCredential() && !isNear(e.URL) {
		e.Doubt = "has no credentials in the file and may need a login"
	}
	e.belayArgs = []string{"mcp", "--name=" + e.Name}
	f.takeLimits(e, n)
	e.belayArgs = append(e.belayArgs, parts.flags()...)
}

// unknownKind says why a server is of no kind that is known.
func (f *File) unknownKind(n *node) string {
	for _, kind := range f.Client.Remote.Kinds {
		if n.string(kind.Key) != "" {
			return message.EntryUnknownType(n.string("type"))
		}
	}
	return message.EntryRemote()
}

// unfit says why belay cannot stand in front of a server, as far as its keys and its URL tell.
func (f *File) unfit(parts *remoteParts, n *node) string {
	r := &f.Client.Remote
	for _, key := range r.Own {
		if v := n.get(key); v != nil && v.text != "false" && v.text != "null" {
			return fmt.Sprintf("needs %s, which only the client can do", key)
		}
	}
	for i, m := range n.members {
		if slices.ContainsFunc(n.members[:i], func(before member) bool { return before.key == m.key }) {
			return message.EntryWritten()
		}
		second := m.key != parts.kind.Key && slices.ContainsFunc(r.Kinds, func(k RemoteKind) bool { return k.Key == m.key })
		if second || slices.Contains([]string{"command", "args", "cwd", r.Env, r.Vars}, m.key) {
			return fmt.Sprintf("has both a URL and %s", m.key)
		}
	}
	if !f.isPlainKey(parts.url) || parts.kindType != nil && string(f.Text[parts.kindType.value.from:parts.kindType.value.to]) != quoted(parts.kind.Type) {
		return message.EntryWritten()
	}
	return addressTrouble(parts.url.value.text)
}

// readHeaders finds a variable for each header. It returns why that cannot be done.
func (f *File) readHeaders(parts *remoteParts) string {
	if parts.headers == nil {
		return ""
	}
	if !parts.headers.value.is(kindObject) || !f.isPlainKey(parts.headers) {
		return message.EntryWritten()
	}
	var taken []string
	for i := range parts.headers.value.members {
		m := &parts.headers.value.members[i]
		if m.value.kind != kindText || !f.isPlainKey(m) || !isHeader(m.key) || slices.ContainsFunc(parts.names, func(h headerName) bool { return strings.EqualFold(h.name, m.key) }) {
			return message.EntryWritten()
		}
		variable := headerVariable(m.key, taken)
		taken = append(taken, variable)
		parts.names = append(parts.names, headerName{name: m.key, variable: variable})
	}
	return ""
}

// readVars reads headers and a token whose values are in variables of the client. It returns why that cannot be done.
func (f *File) readVars(parts *remoteParts, n *node) string {
	r := &f.Client.Remote
	if r.Vars == "" {
		return ""
	}
	bearer, table := n.member(r.Bearer), n.member(r.HeaderVars)
	switch {
	case bearer != nil && table != nil:
		return fmt.Sprintf("has both %s and %s", r.Bearer, r.HeaderVars)
	case bearer != nil && (bearer.value.kind != kindText || !isVariable(bearer.value.text) || !f.isPlainKey(bearer)):
		return message.EntryWritten()
	case bearer != nil:
		parts.vars = bearer
		return ""
	case table == nil:
		return ""
	case !table.value.is(kindObject) || table.value.from < 0 || !f.isPlainKey(table):
		return message.EntryWritten()
	}
	parts.vars, parts.varNames = table, []headerName{}
	for i := range table.value.members {
		m := &table.value.members[i]
		if m.value.kind != kindText || !isHeader(m.key) || !isVariable(m.value.text) || strings.HasPrefix(m.value.text, headerPrefix) {
			return message.EntryWritten()
		}
		h := headerName{name: m.key, variable: m.value.text, bare: f.Text[m.keyFrom] != '"'}
		if string(f.Text[m.keyFrom:m.value.from]) != h.key() {
			return message.EntryWritten()
		}
		parts.varNames = append(parts.varNames, h)
	}
	return ""
}

// key is how the header stands before its variable in a table of TOML.
func (h headerName) key() string {
	if h.bare {
		return h.name + " = "
	}
	return quoted(h.name) + " = "
}

// hasCredential reports whether the server is sent something that says who calls.
func (p *remoteParts) hasCredential() bool {
	if p.vars != nil && p.varNames == nil {
		return true
	}
	return slices.ContainsFunc(slices.Concat(p.names, p.varNames), func(h headerName) bool { return isCredential(h.name) })
}

// flags are the flags of belay mcp for the server, up to its URL. A header of which the table is written without quotes is one word,
// others are two.
func (p *remoteParts) flags() (words []string) {
	words = strings.Fields(p.kind.Flag)
	for _, h := range slices.Concat(p.names, p.varNames) {
		if h.bare {
			words = append(words, headerFlag+"="+h.name+"="+h.variable)
		} else {
			words = append(words, headerFlag, h.name+"="+h.variable)
		}
	}
	if p.vars != nil && p.varNames == nil {
		words = append(words, bearerFlag, p.vars.value.text)
	}
	return append(words, urlFlag)
}

// isPlainKey reports whether a key stands in the file as it reads, in quotes or without.
func (f *File) isPlainKey(m *member) bool {
	if m.keyTo == 0 {
		return false
	}
	from, to := f.keySpan(m)
	return string(f.Text[from:to]) == m.key
}

// keySpan is where a key stands, without its quotes.
func (f *File) keySpan(m *member) (from, to int) {
	if c := f.Text[m.keyFrom]; c == '"' || c == '\'' {
		return m.keyFrom + 1, m.keyTo - 1
	}
	return m.keyFrom, m.keyTo
}

// isHeader reports whether a text can be the name of a header.
func isHeader(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) && !strings.ContainsRune("!#$%&'*+-.^`|~", r) })
}

// isVariable reports whether a text can be the name of a variable.
func isVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) })
}

// isWord reports whether a character is a letter of ASCII, a digit or _.
func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// headerVariable is the variable for the value of a header, none of those that are taken.
func headerVariable(name string, taken []string) string {
	variable := headerPrefix + strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
	for slices.Contains(taken, variable) {
		variable += "_"
	}
	return variable
}
