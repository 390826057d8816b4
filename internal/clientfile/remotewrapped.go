package clientfile

import (
	"slices"
	"strings"
)

// wrappedRemote reads a server that belay calls over the network, and reports whether Uninstall can make of it what it was. list is
// the member with the words, which begin with those of belay.
func (f *File) wrappedRemote(e *Entry, n *node, list *member, words []string) bool {
	r := &f.Client.Remote
	p := &remoteParts{end: n.to, url: list, headers: n.member(r.Env), vars: n.member(r.Vars), kindType: n.member("type")}
	last := list.value.items[len(list.value.items)-1]
	if len(words) < 4 || words[0] != "mcp" || !strings.HasPrefix(words[1], "--name=") || words[len(words)-2] != urlFlag || last.kind != kindText || !f.isPlainKey(list) {
		return false
	}
	flag, bearer, names, ok := readFlags(words[2 : len(words)-2])
	at := slices.IndexFunc(r.Kinds, func(k RemoteKind) bool { return k.Flag == flag })
	if !ok || at < 0 {
		return false
	}
	p.kind = r.Kinds[at]
	hasType := p.kindType != nil
	if hasType != (p.kind.Type != "") || hasType && string(f.Text[p.kindType.value.from:p.kindType.value.to]) != quoted(r.StdioType) {
		return false
	}
	if !f.takeNames(p, names) || !f.takeVars(p, bearer) {
		return false
	}
	e.Remote, e.URL, e.parts = true, last.text, p
	return true
}

// readFlags reads the flags that flags has written, among others.
func readFlags(words []string) (kind, bearer string, names []headerName, ok bool) {
	for i := 0; i < len(words); i++ {
		value := ""
		if i+1 < len(words) {
			value = words[i+1]
		}
		header, bare := "", false
		switch w := words[i]; {
		case w == "--transport":
			kind = w + " " + value
			i++
		case strings.HasPrefix(w, "--transport="):
			kind = w
		case w == bearerFlag:
			bearer = value
			i++
		case w == headerFlag:
			header = value
			i++
		case strings.HasPrefix(w, headerFlag+"="):
			header, bare = w[len(headerFlag)+1:], true
		}
		if header == "" {
			continue
		}
		h := headerName{bare: bare}
		if h.name, h.variable, ok = strings.Cut(header, "="); !ok || !isHeader(h.name) {
			return "", "", nil, false
		}
		names = append(names, h)
	}
	return kind, bearer, names, true
}

// takeNames finds the header of each variable of the server. It reports whether there is one for each, and none is left.
func (f *File) takeNames(p *remoteParts, names []headerName) bool {
	values := 0
	for _, h := range names {
		if strings.HasPrefix(h.variable, headerPrefix) {
			values++
		} else {
			p.varNames = append(p.varNames, h)
		}
	}
	if p.headers == nil {
		return values == 0
	}
	if !p.headers.value.is(kindObject) || !f.isPlainKey(p.headers) || len(p.headers.value.members) != values {
		return false
	}
	for i := range p.headers.value.members {
		m := &p.headers.value.members[i]
		at := slices.IndexFunc(names, func(h headerName) bool { return h.variable == m.key && strings.HasPrefix(m.key, headerPrefix) })
		if at < 0 || !f.isPlainKey(m) {
			return false
		}
		p.names = append(p.names, names[at])
	}
	return true
}

// takeVars finds the use of each variable that the client hands on. It reports whether there is one for each, and none is left.
func (f *File) takeVars(p *remoteParts, bearer string) bool {
	if p.vars == nil {
		return bearer == "" && p.varNames == nil
	}
	if !p.vars.value.is(kindList) || p.vars.value.from < 0 || !f.isPlainKey(p.vars) {
		return false
	}
	if bearer != "" {
		return p.varNames == nil && slices.Equal(p.vars.value.texts(), []string{bearer})
	}
	var variables []string
	for _, h := range p.varNames {
		variables = append(variables, h.variable)
	}
	if p.varNames == nil {
		p.varNames = []headerName{}
	}
	return slices.Equal(p.vars.value.texts(), variables)
}
