package clientfile

import (
	"bytes"
	"slices"
	"strings"
)

// wrapRemote makes a server that is called over the network one that belay calls.
func (f *File) wrapRemote(e *Entry, belay string) (changes []change) {
	p, r := e.parts, &f.Client.Remote
	var words strings.Builder
	words.WriteString("[")
	if f.Client.CommandList {
		words.WriteString(quoted(belay) + ", ")
		changes = append(changes, f.rename(p.url, "command"))
	} else {
		at := p.url.keyFrom
		changes = append(changes, change{at, at, f.newCommand(p.url, belay)}, f.rename(p.url, "args"))
	}
	for _, w := range e.belayArgs {
		words.WriteString(quoted(w) + ", ")
	}
	url := p.url.value
	changes = append(changes, change{url.from, url.from, words.String()}, change{url.to, url.to, "]"})
	if p.kindType != nil {
		changes = append(changes, change{p.kindType.value.from, p.kindType.value.to, quoted(r.StdioType)})
	}
	if p.headers != nil {
		changes = append(changes, f.rename(p.headers, r.Env))
		for i := range p.headers.value.members {
			changes = append(changes, f.rename(&p.headers.value.members[i], p.names[i].variable))
		}
	}
	if p.vars == nil {
		return changes
	}
	vars := p.vars.value
	changes = append(changes, f.rename(p.vars, r.Vars))
	if p.varNames == nil {
		return append(changes, change{vars.from, vars.from, "["}, change{vars.to, vars.to, "]"})
	}
	changes = append(changes, change{vars.from, vars.from + 1, "["}, change{vars.to - 1, vars.to, "]"})
	for _, m := range vars.members {
		changes = append(changes, change{m.keyFrom, m.value.from, ""})
	}
	return changes
}

// newCommand is the text that gives an entry a command, to stand before the last word of a key of it.
func (f *File) newCommand(m *member, belay string) string {
	switch {
	case f.format == JSON:
		return `"command": ` + quoted(belay) + ", "
	case m.inline:
		return "command = " + quoted(belay) + ", "
	}
	return "command = " + quoted(belay) + "\n" + m.prefix
}

// unwrapRemote is the opposite.
func (f *File) unwrapRemote(e *Entry) (changes []change) {
	p, r := e.parts, &f.Client.Remote
	if !e.isList {
		changes = append(changes, f.removeCommand(e))
	}
	list := p.url.value
	url := list.items[len(list.items)-1]
	changes = append(changes, f.rename(p.url, p.kind.Key), change{list.from, url.from, ""}, change{url.to, list.to, ""})
	if p.kindType != nil {
		changes = append(changes, change{p.kindType.value.from, p.kindType.value.to, quoted(p.kind.Type)})
	}
	if p.headers != nil {
		changes = append(changes, f.rename(p.headers, r.Headers))
		for i := range p.headers.value.members {
			changes = append(changes, f.rename(&p.headers.value.members[i], p.names[i].name))
		}
	}
	if p.vars == nil {
		return changes
	}
	vars := p.vars.value
	if p.varNames == nil {
		item := vars.items[0]
		return append(changes, f.rename(p.vars, r.Bearer), change{vars.from, item.from, ""}, change{item.to, vars.to, ""})
	}
	changes = append(changes, f.rename(p.vars, r.HeaderVars), change{vars.from, vars.from + 1, "{"}, change{vars.to - 1, vars.to, "}"})
	for i, item := range vars.items {
		changes = append(changes, change{item.from, item.from, p.varNames[i].key()})
	}
	return changes
}

// removeCommand takes the command out of an entry. Install puts it right before the arguments; a client that has written the file
// anew may have it elsewhere.
func (f *File) removeCommand(e *Entry) change {
	command, args := e.command, e.parts.url
	between := f.Text[min(command.value.to, args.keyFrom):args.keyFrom]
	if rest := strings.Trim(string(between), ", \t\r\n"); command.keyFrom < args.keyFrom && (rest == "" || rest == strings.TrimSpace(args.prefix)) {
		return change{command.keyFrom, args.keyFrom, ""}
	}
	from, to := command.from, command.value.to
	if f.format == TOML && !command.inline {
		return change{bytes.LastIndexByte(f.Text[:from], '\n') + 1, lineEnd(f.Text, to), ""}
	}
	if comma := f.comma(to, e.parts.end); comma >= 0 {
		to = comma + 1
		return change{from, to + len(f.Text[to:]) - len(bytes.TrimLeft(f.Text[to:], " \t\r\n")), ""}
	}
	if comma := len(bytes.TrimRight(f.Text[:from], " \t\r\n")) - 1; comma >= 0 && f.Text[comma] == ',' {
		from = comma
	}
	return change{from, to, ""}
}

// lineEnd is where the line ends that an offset is in, behind its line break.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// rename gives a member another key, in the quotes that it has.
func (f *File) rename(m *member, key string) change {
	from, to := f.keySpan(m)
	if from == m.keyFrom && strings.ContainsFunc(key, func(r rune) bool { return !isWord(r) && r != '-' }) {
		return change{from, to, quoted(key)}
	}
	return change{from, to, key}
}

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
