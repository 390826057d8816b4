package clientfile

import (
	"bytes"
	"strings"
)

// wrapRemote makes a server that is called over the network one that belay calls.
func (f editor) wrapRemote(e *Entry, belay string) (changes []change) {
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
func (f editor) newCommand(m *member, belay string) string {
	switch {
	case f.format == JSON:
		return `"command": ` + quoted(belay) + ", "
	case m.inline:
		return "command = " + quoted(belay) + ", "
	}
	return "command = " + quoted(belay) + "\n" + m.prefix
}

// unwrapRemote is the opposite.
func (f editor) unwrapRemote(e *Entry) (changes []change) {
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
func (f editor) removeCommand(e *Entry) change {
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
func (f editor) rename(m *member, key string) change {
	from, to := f.keySpan(m)
	if from == m.keyFrom && strings.ContainsFunc(key, func(r rune) bool { return !isWord(r) && r != '-' }) {
		return change{from, to, quoted(key)}
	}
	return change{from, to, key}
}
