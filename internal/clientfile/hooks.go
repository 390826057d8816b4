package clientfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// findHooks lists the hooks: EVENT[].hooks[], or EVENT[] itself.
func (f *File) findHooks(hooks *node) (entries []Entry, err error) {
	if hooks.kind != kindObject {
		return nil, wrong(f.Text, hooks.from, message.MustBeObject("hooks"))
	}
	for _, event := range hooks.members {
		if event.value.kind != kindList {
			if f.LeftAlone {
				continue // codex keeps more than hooks under that key
			}
			return nil, wrong(f.Text, event.value.from, message.MustBeHookList(event.key, false))
		}
		for _, group := range event.value.items {
			if f.Client.SimpleHooks {
				if group.kind == kindObject {
					entries = append(entries, f.hook(event.key, group.string("matcher"), group))
				}
				continue
			}
			inner := group.get("hooks")
			if group.kind != kindObject || inner == nil {
				continue // the client reports that itself
			}
			if inner.kind != kindList {
				return nil, wrong(f.Text, inner.from, message.MustBeHookList(event.key, true))
			}
			for _, item := range inner.items {
				if item.kind == kindObject {
					entries = append(entries, f.hook(event.key, group.string("matcher"), item))
				}
			}
		}
	}
	return entries, nil
}

// hook reads one hook.
func (f *File) hook(event, matcher string, n *node) Entry {
	e := Entry{Event: event, Matcher: matcher, Type: n.string("type"), Command: n.string("command"),
		command: n.member("command"), args: n.member("args")}
	begin := n.from
	if begin < 0 && e.command != nil { // a table of TOML
		begin = e.command.from
	}
	e.Line, _ = position(f.Text, begin)
	switch {
	case f.LeftAlone:
		e.Why = "is in config.toml, which belay does not change"
	case e.Type != "command" && !(f.Client.SimpleHooks && n.get("type") == nil):
		e.Why = fmt.Sprintf("is a hook of type %q, which runs no command", e.Type)
	case e.Command == "":
		e.Why = "has no command"
	case f.Client.SimpleHooks && e.args == nil && !callsBelay(e.Command, "hook") && !isSimple(e.Command):
		e.Why = "is more than one command, or a command of the shell itself"
	case n.string("shell") == "powershell":
		e.Why = "is a PowerShell command"
	case e.args != nil && e.args.value.kind != kindList:
		e.Why = message.EntryBadArgs()
	}
	if e.Why != "" {
		e.State = Unfit
		return e
	}
	var args []string
	if e.args != nil {
		args = e.args.value.texts()
	}
	e.Name = nameOf(e.Command, args)
	seconds := 0.0
	if t := n.get("timeout"); t != nil && t.kind == 0 {
		seconds, _ = strconv.ParseFloat(t.text, 64)
	}
	e.belayArgs = []string{"hook", "--name", e.Name, "--timeout", f.Client.Grant.hookTimeout(event, f.Client.Grant.own(seconds))}
	if closed := n.get("failClosed"); n.string("onFailure") == "block" || f.Client.SimpleHooks && closed != nil && closed.text == "true" {
		e.belayArgs = append(e.belayArgs, "--fail-closed")
	}
	if e.args != nil {
		e.State, e.Belay = wrappedWords("hook", e.Command, e.args.value)
		return e
	}
	line := units(f.Text[e.command.value.from:e.command.value.to])
	if _, ok := f.unwrapHook(line); ok {
		e.State = Installed
		e.Belay, _, _ = shellWord(e.Command)
	} else if callsBelay(e.Command, "hook") {
		e.State = ByHand
	}
	return e
}

// unwrapHook is the line of a hook without belay. ok is false for one that Install has not put behind belay.
func (f *File) unwrapHook(line []unit) (inner []unit, ok bool) {
	if f.Client.SimpleHooks {
		return afterSimpleHead(line)
	}
	return unwrapLine(line)
}

// wrappedWords says whether belay stands in front of a command that is given as a list of words, and which one.
func wrappedWords(sub, command string, args *node) (State, string) {
	words := args.texts()
	if !isBelay(command) || len(words) == 0 || words[0] != sub {
		return Direct, ""
	}
	at := slices.Index(words, "--")
	if at < 2 || at+1 >= len(words) || args.items[at+1].kind != kindText || !isName(sub, words[1]) {
		return ByHand, ""
	}
	return Installed, command
}

// Cursor gives a hook its input by a redirection that it writes behind the command. Behind a line of several commands that is the
// input of the last one, and behind `sh -c` it would be that of the first. So only a line that is one command can be put behind
// belay, which stands before it and leaves it as it is: the shell expands the same words as before.

// isSimple reports whether a line is one command that is not a shell's own, whatever shell reads it.
func isSimple(line string) bool {
	if strings.ContainsAny(line, "|;&<()`#\n\r{}") {
		return false
	}
	words := strings.Fields(line)
	return len(words) > 0 && !strings.ContainsAny(words[0], "=!") && !slices.Contains(shellWords, words[0])
}

// shellWords are commands of shells that are no executables, and words that begin something larger.
var shellWords = []string{".", ":", "[[", "alias", "builtin", "case", "cd", "command", "declare", "do", "eval", "exec", "exit", "export", "for", "function", "if",
	"let", "local", "read", "readonly", "return", "select", "set", "shift", "source", "time", "trap", "type", "ulimit", "umask", "unset", "until", "wait", "while"}

// simpleHead is what stands before a line that is one command.
func simpleHead(belay string, words []string) string {
	return quote(belay) + " " + strings.Join(words, " ") + " -- "
}

// afterSimpleHead is the line behind belay. ok is false for a line that Install has not made.
func afterSimpleHead(line []unit) (inner []unit, ok bool) {
	belay, rest, ok := shellWord(meaning(line))
	words, command, found := strings.Cut(rest, " -- ")
	if !ok || !isBelay(belay) || !found || !strings.HasPrefix(words, " hook --name ") || !isSimple(command) {
		return nil, false
	}
	return line[len(line)-len([]rune(command)):], true
}
