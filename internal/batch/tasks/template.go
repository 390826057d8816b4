package tasks

import (
	"fmt"
	"slices"
	"strings"
)

// Template is a command whose arguments may hold placeholders: {} for the prompt, {id}, {file}, and {name} for a column of that name.
// They are replaced where they stand, within one argument: what a task says never becomes a second one, and no shell reads it.
type Template struct {
	args []templateArg
	// Prompt says that one of them is the prompt, so that the command need not be given it in any other way.
	Prompt bool
	names  []string // of the placeholders, each once
}

// templateArg is an argument in pieces: text, placeholder, text, placeholder, text.
type templateArg struct {
	text  []string
	names []string
}

// ParseTemplate takes a command apart.
func ParseTemplate(args []string) *Template {
	t := &Template{}
	for _, arg := range args {
		parsed := parseArg(arg)
		for _, name := range parsed.names {
			if name == "" || name == "prompt" {
				t.Prompt = true
			}
			if !slices.Contains(t.names, name) {
				t.names = append(t.names, name)
			}
		}
		t.args = append(t.args, parsed)
	}
	return t
}

// parseArg finds the placeholders of one argument. Other braces, as in {print $1} or {"a": 1}, are text.
func parseArg(arg string) (parsed templateArg) {
	from := 0
	for i := 0; i < len(arg); i++ {
		if arg[i] != '{' {
			continue
		}
		length := strings.IndexByte(arg[i:], '}')
		if length < 0 {
			break
		}
		name := arg[i+1 : i+length]
		if !isPlaceholder(name) {
			continue
		}
		parsed.text, parsed.names = append(parsed.text, arg[from:i]), append(parsed.names, name)
		from = i + length + 1
		i = from - 1
	}
	parsed.text = append(parsed.text, arg[from:])
	return parsed
}

// isPlaceholder reports whether what stands between two braces is the name of something: empty, or a word.
func isPlaceholder(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return true
}

// Command is the command as it was written, up to its first placeholder; nil if there is none.
func (t *Template) Command() (args []string) {
	for _, arg := range t.args {
		if len(arg.names) > 0 {
			break
		}
		args = append(args, arg.text[0])
	}
	return args
}

// Fills reports whether there are placeholders.
func (t *Template) Fills() bool { return len(t.names) > 0 }

// Uses reports whether there is a placeholder of that name.
func (t *Template) Uses(name string) bool { return slices.Contains(t.names, name) }

// Check says which placeholder can never be replaced; columns are those of the source, nil if they are only known task by task.
func (t *Template) Check(columns []string) error {
	if columns == nil {
		return nil
	}
	for _, name := range t.names {
		if !slices.Contains(builtIn, name) && !slices.Contains(columns, name) {
			return t.unknown(name, columns)
		}
	}
	return nil
}

// builtIn are the placeholders that every task has.
var builtIn = []string{"", "prompt", "id"}

// unknown says that no task can fill a placeholder. columns are those that there are; nil if it is about one task.
func (t *Template) unknown(name string, columns []string) error {
	if columns == nil {
		return fmt.Errorf("the command has {%s}, but the task has no such key", name)
	}
	known := "{}, {id}"
	for _, c := range columns {
		if c != "id" {
			known += ", {" + c + "}"
		}
	}
	return fmt.Errorf("unknown placeholder {%s} in the command; the placeholders are %s", name, known)
}

// Fill is the command for a task.
func (t *Template) Fill(task *Task) ([]string, error) {
	args := make([]string, 0, len(t.args)+len(task.Args))
	for _, arg := range t.args {
		text := arg.text[0]
		for i, name := range arg.names {
			value, ok := task.value(name)
			if !ok {
				return nil, t.unknown(name, nil)
			}
			text += value + arg.text[i+1]
		}
		args = append(args, text)
	}
	return append(args, task.Args...), nil
}

// CheckTask says whether a task has all that the placeholders ask for.
func (t *Template) CheckTask(task *Task) error {
	for _, name := range t.names {
		if _, ok := task.value(name); !ok {
			return t.unknown(name, nil)
		}
	}
	return nil
}

// value is what a placeholder stands for.
func (t *Task) value(name string) (string, bool) {
	switch name {
	case "", "prompt":
		return t.Prompt, true
	case "id":
		return t.ID, true
	}
	if value, ok := t.Fields[name]; ok {
		return value, true
	}
	switch name {
	case "file":
		return t.File, t.File != ""
	case "model":
		return t.Model, t.Model != ""
	case "name":
		return t.Name, t.Name != ""
	case "cwd":
		return t.Cwd, t.Cwd != ""
	}
	return "", false
}
