package clientfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// Edit is what would become of a file.
type Edit struct {
	After []byte
	// Changed are the entries that are put behind belay or taken from behind it, as they were. Repointed are those that
	// were behind a belay that no longer exists, and get another.
	Changed, Repointed []Entry
}

// NoEntry says that a file has no entry of that name.
type NoEntry struct {
	Name  string
	Known []string // those that it has
}

func (e *NoEntry) Error() string { return fmt.Sprintf("there is no server %q", e.Name) }

// Install puts belay in front of the entries with these names, of all if there are none. belay is a path, or the name by
// which it is found on the PATH.
func (f *File) Install(belay string, names ...string) (Edit, error) {
	if !isBelay(belay) {
		return Edit{}, message.Error(belay + " is not called belay, so belay could not recognize it later")
	}
	edit, err := f.edit(names, func(e *Entry, to *Edit) []change {
		switch {
		case e.State == Direct && e.Doubt != "" && len(names) == 0:
			return nil
		case e.State == Direct:
			to.Changed = append(to.Changed, *e)
			return editor{f}.wrap(e, belay)
		case e.Belay != belay && e.Missing():
			to.Repointed = append(to.Repointed, *e)
			return editor{f}.repoint(e, belay)
		}
		return nil
	})
	if err != nil {
		return Edit{}, err
	}
	// What could not be undone is not done.
	check, err := Parse(f.Location, edit.After)
	if err != nil {
		return Edit{}, message.Error(message.WouldSpoil(err), err)
	}
	was, err := f.Uninstall()
	is, undo := check.Uninstall()
	if err = errors.Join(err, undo); err == nil && !bytes.Equal(was.After, is.After) {
		err = message.Error(message.WouldSpoil(message.Error("the change could not be undone byte for byte")))
	}
	return edit, err
}

// Uninstall takes belay away from the entries with these names, from all if there are none, where Install has put it.
func (f *File) Uninstall(names ...string) (Edit, error) {
	edit, err := f.edit(names, func(e *Entry, to *Edit) []change {
		if e.State != Installed {
			return nil
		}
		to.Changed = append(to.Changed, *e)
		return editor{f}.unwrap(e)
	})
	if err != nil {
		return Edit{}, err
	}
	if _, err := Parse(f.Location, edit.After); err != nil {
		return Edit{}, message.Error(message.WouldSpoil(err), err)
	}
	return edit, nil
}

// edit collects the changes of the entries that are meant.
func (f *File) edit(names []string, how func(*Entry, *Edit) []change) (Edit, error) {
	var known []string
	for _, e := range f.Entries {
		known = append(known, e.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return Edit{}, &NoEntry{name, known}
		}
	}
	var edit Edit
	var changes []change
	for i := range f.Entries {
		if e := &f.Entries[i]; len(names) == 0 || slices.Contains(names, e.Name) {
			changes = append(changes, how(e, &edit)...)
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	at := 0
	for _, c := range changes {
		edit.After = append(append(edit.After, f.Text[at:c.from]...), c.text...)
		at = c.to
	}
	edit.After = append(edit.After, f.Text[at:]...)
	return edit, nil
}

// wrap puts belay in front of an entry.
func (f editor) wrap(e *Entry, belay string) []change {
	if e.Remote {
		return f.wrapRemote(e, belay)
	}
	command := e.command.value
	if f.isLine(e) && f.Client.SimpleHooks {
		return []change{{command.from + 1, command.from + 1, escaped(simpleHead(belay, e.belayArgs))}}
	}
	if f.isLine(e) {
		return []change{{command.from + 1, command.to - 1, wrapLine(belay, e.belayArgs, units(f.Text[command.from:command.to]))}}
	}
	var b strings.Builder
	for _, w := range append(slices.Clone(e.belayArgs), "--") {
		b.WriteString(quoted(w) + ", ")
	}
	if e.isList {
		return []change{{command.from + 1, command.from + 1, quoted(belay) + ", " + b.String()}}
	}
	b.Write(f.Text[command.from:command.to])
	first := change{command.from, command.to, quoted(belay)}
	if e.args == nil {
		first.text += f.newArgs(e, "["+b.String()+"]")
		return []change{first}
	}
	if len(e.args.value.items) > 0 {
		b.WriteString(", ")
	}
	at := e.args.value.from + 1
	return []change{first, {at, at, b.String()}}
}

// newArgs is the text that gives an entry arguments which has none, to stand behind its command.
func (f editor) newArgs(e *Entry, args string) string {
	switch {
	case f.format == JSON:
		return `, "args": ` + args
	case e.command.inline:
		return ", args = " + args
	}
	return "\n" + e.command.prefix + "args = " + args
}

// unwrap takes belay away from an entry.
func (f editor) unwrap(e *Entry) []change {
	if e.Remote {
		return f.unwrapRemote(e)
	}
	command := e.command.value
	if f.isLine(e) {
		inner, _ := f.unwrapHook(units(f.Text[command.from:command.to]))
		return []change{{command.from + 1, command.to - 1, written(inner)}}
	}
	if e.isList {
		return []change{{command.from + 1, f.pastComma(command, slices.Index(command.texts(), "--")), ""}}
	}
	args := e.args.value
	at := slices.Index(args.texts(), "--") + 1
	own := string(f.Text[args.items[at].from:args.items[at].to])
	if strings.HasPrefix(args.texts()[1], "--name=") && f.follows(e) {
		return []change{{command.from, args.to, own}}
	}
	return []change{{command.from, command.to, own}, {args.from + 1, f.pastComma(args, at), ""}}
}

// follows reports whether the arguments stand right behind the command, where Install puts those that it makes.
func (f editor) follows(e *Entry) bool {
	from, to := e.command.value.to, e.args.from
	return from <= to && len(bytes.Trim(f.Text[from:to], ", \t\r\n")) == 0
}

// repoint has an entry that Install has wrapped call another belay.
func (f editor) repoint(e *Entry, belay string) []change {
	command := e.command.value
	if e.isList {
		command = command.items[0]
	}
	if !f.isLine(e) {
		return []change{{command.from, command.to, quoted(belay)}}
	}
	line := units(f.Text[command.from:command.to])
	text := meaning(line)
	_, rest, _ := shellWord(text)
	word := line[:len([]rune(text))-len([]rune(rest))]
	at := command.from + 1
	return []change{{at, at + len(written(word)), escaped(quote(belay))}}
}
