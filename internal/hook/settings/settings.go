// Package settings puts `belay hook` in front of the hooks in an agent's settings file, and takes it away again.
//
// A [File] is read without decoding it: only the bytes of the commands that are wrapped change, so that order, layout,
// comments and what nobody here knows of stay as they are. [File.Install] and [File.Uninstall] return the new text and
// write nothing; [Replace] does. Uninstall undoes Install to the byte, also when the rest of the file has changed since.
//
// Hook commands are lines for a shell. A wrapped one gives the same line to the same shell, behind belay:
//
//	./guard.sh | tee log   →   belay hook --name guard.sh --timeout 59s -- "$0" -c './guard.sh | tee log'
//
// In the line that a shell is given with -c, "$0" is that shell.
package settings

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/belay-run/belay/internal/dotfile"
)

// File is a settings file.
type File struct {
	Client Client
	Path   string
	Text   []byte
	Hooks  []Hook
	// Comment says where a comment stands; empty if there is none. The clients take no settings from such a file.
	Comment string
}

// Hook is one hook of the file.
type Hook struct {
	Event, Matcher string
	Line           int
	Type           string // command, prompt, http …
	Command        string // as the shell gets it now
	// Wrapped says that belay stands in front of it. Exactly says that Install has put it there.
	Wrapped, Exactly bool
	// Why is why it cannot be wrapped; empty if it can.
	Why string

	command, args *value
	timeout       float64 // in seconds; 0 if it has none of its own
	failClosed    bool
}

// Read reads a settings file. A file that is not there is an [os.ErrNotExist]; one that cannot be understood is an error
// that names the place. Links are followed; but none below repository, if the file came with one: they lead where its
// authors like, for instance to a file of the user's.
func Read(client Client, repository, path string) (*File, error) {
	text, err := dotfile.Read(repository, path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(client, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.Path = path
	return f, nil
}

// Parse takes the text of a settings file apart.
func Parse(client Client, text []byte) (*File, error) {
	f := &File{Client: client, Text: text}
	if len(bytes.TrimSpace(text)) == 0 {
		return f, nil
	}
	root, comment, err := parse(text)
	if err != nil {
		return nil, err
	}
	if comment >= 0 {
		line, column := place(text, comment)
		f.Comment = fmt.Sprintf("line %d, column %d", line, column)
	}
	if err := f.find(root); err != nil {
		return nil, err
	}
	return f, nil
}

// find lists the hooks: hooks.EVENT[].hooks[].
func (f *File) find(root value) error {
	if root.kind != '{' {
		return f.wrong(root, "the settings should be an object")
	}
	hooks := f.get(root, "hooks")
	if hooks == nil {
		return nil
	}
	if hooks.kind != '{' {
		return f.wrong(*hooks, "hooks should be an object, a list for each event")
	}
	for _, event := range hooks.members {
		name := f.text(event.key)
		if event.value.kind != '[' {
			return f.wrong(event.value, "hooks.%s should be a list", name)
		}
		for _, group := range event.value.items {
			list := f.get(group, "hooks")
			if group.kind != '{' || list == nil {
				continue // the client says what it thinks of that
			}
			if list.kind != '[' {
				return f.wrong(*list, "the hooks of hooks.%s should be a list", name)
			}
			for _, item := range list.items {
				if item.kind == '{' {
					f.Hooks = append(f.Hooks, f.hook(name, f.string(group, "matcher"), item))
				}
			}
		}
	}
	return nil
}

// hook reads one hook.
func (f *File) hook(event, matcher string, v value) Hook {
	h := Hook{Event: event, Matcher: matcher, Type: f.string(v, "type"), Command: f.string(v, "command"),
		failClosed: f.string(v, "onFailure") == "block"}
	h.Line, _ = place(f.Text, v.start)
	if t := f.get(v, "timeout"); t != nil {
		h.timeout, _ = strconv.ParseFloat(string(f.Text[t.start:t.end]), 64)
	}
	h.command, h.args = f.get(v, "command"), f.get(v, "args")
	switch {
	case h.Type != "command":
		h.Why = "is a hook of type " + strconv.Quote(h.Type) + ", which runs no command"
	case h.command == nil || h.command.kind != '"' || h.Command == "":
		h.Why = "has no command"
	case f.string(v, "shell") == "powershell":
		h.Why = "is a line for PowerShell"
	case h.args != nil && h.args.kind != '[':
		h.Why = "has args that are no list"
	}
	if h.Why == "" {
		h.Wrapped, h.Exactly = f.wrapped(&h)
	}
	return h
}

// get is the member of that name; the last one, as for the clients. Nil if there is none.
func (f *File) get(v value, name string) *value {
	var found *value
	for i := range v.members {
		if f.text(v.members[i].key) == name {
			found = &v.members[i].value
		}
	}
	return found
}

// string is the text of a member, if it is one.
func (f *File) string(v value, name string) string {
	if m := f.get(v, name); m != nil && m.kind == '"' {
		return f.text(*m)
	}
	return ""
}

func (f *File) units(v value) []unit { return units(f.Text[v.start:v.end]) }

func (f *File) text(v value) string { return meaning(f.units(v)) }

func (f *File) wrong(v value, format string, args ...any) error {
	line, column := place(f.Text, v.start)
	return &SyntaxError{line, column, fmt.Sprintf(format, args...)}
}
