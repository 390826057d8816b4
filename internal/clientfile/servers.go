package clientfile

import (
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// findServers lists the servers: NAME is a key.
func (f *File) findServers(servers *node) (entries []Entry, err error) {
	if servers.kind != kindObject {
		return nil, wrong(f.Text, servers.from, message.MustBeObject("the servers"))
	}
	for _, m := range servers.members {
		entries = append(entries, f.server(m))
	}
	return entries, nil
}

// server reads one server.
func (f *File) server(m member) Entry {
	n := m.value
	e := Entry{Name: m.key, Command: n.string("command"), command: n.member("command"), args: n.member("args")}
	e.Line, _ = position(f.Text, m.from)
	if list := n.get("command"); f.Client.CommandList && list.is(kindList) && len(list.items) > 0 && list.items[0].kind == kindText {
		f.commandList(&e, n, list)
		return e
	}
	switch {
	case e.command == nil:
		f.remote(&e, n)
		return e
	case e.command.value.kind != kindText:
		e.State, e.Why = Unfit, message.EntryRemote()
		return e
	case f.Client.CommandLine && (e.args == nil || len(e.args.value.items) == 0) && strings.ContainsAny(e.Command, " \t\"'"):
		e.State, e.Why = Unfit, "has its arguments in the command"
		return e
	case e.args != nil && e.args.value.kind != kindList:
		e.State, e.Why = Unfit, message.EntryBadArgs()
		return e
	}
	e.Line, _ = position(f.Text, e.command.from)
	if e.args != nil {
		e.State, e.Belay = wrappedWords("mcp", e.Command, e.args.value)
		if e.State == ByHand && f.wrappedRemote(&e, n, e.args, e.args.value.texts()) {
			e.State, e.Belay = Installed, e.Command
		}
		e.belayArgs = []string{"mcp", "--name", e.Name}
	} else {
		// --name=NAME in one word marks an entry that had no arguments: Uninstall removes all of them.
		e.belayArgs = []string{"mcp", "--name=" + e.Name}
	}
	f.takeLimits(&e, n)
	return e
}

// commandList reads a server whose command is a list, with the arguments in it.
func (f *File) commandList(e *Entry, n, list *node) {
	e.isList, e.Command = true, list.items[0].text
	e.Line, _ = position(f.Text, e.command.from)
	e.State, e.Belay = wrappedWords("mcp", e.Command, &node{kind: kindList, items: list.items[1:]})
	if e.State == ByHand && f.wrappedRemote(e, n, e.command, list.texts()[1:]) {
		e.State, e.Belay = Installed, e.Command
	}
	e.belayArgs = []string{"mcp", "--name", e.Name}
	f.takeLimits(e, n)
}
