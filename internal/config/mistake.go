package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/message"
)

// Mistake is something wrong in a file or in the environment, and where.
type Mistake struct {
	Path string // of the file
	Line int    // 0 if it has no line of its own
	Var  string // or the environment variable
	Err  error
}

func (m *Mistake) Error() string {
	switch {
	case m.Var != "":
		return fmt.Sprintf("environment variable %s: %v", m.Var, m.Err)
	case m.Line > 0:
		return fmt.Sprintf("%s:%d: %v", m.Path, m.Line, m.Err)
	}
	return fmt.Sprintf("%s: %v", m.Path, m.Err)
}

func (m *Mistake) Unwrap() error { return m.Err }

// notTOML says in which line a file cannot be read, shows the line, and how one should look: the parser's own messages speak
// of characters only.
func notTOML(path string, data []byte, err error) *Mistake {
	wrong, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return &Mistake{Path: path, Err: err}
	}
	row, _ := wrong.Position()
	text := strings.TrimPrefix(wrong.Error(), "toml: ")
	lines := strings.Split(string(data), "\n")
	if row < 1 || row > len(lines) {
		return &Mistake{Path: path, Line: row, Err: errors.New(text)}
	}
	line := strings.ToValidUTF8(strings.TrimSpace(lines[row-1]), "\uFFFD")
	key, value, hasValue := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if hasValue {
		line = key + " = …" // a value may be a secret
	}
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:59]) + "…"
	}
	switch {
	case strings.Contains(text, "already"): // defined twice: that is clear enough
		return &Mistake{Path: path, Line: row, Err: errors.New(text)}
	case hasValue && key != "" && value == "":
		return &Mistake{Path: path, Line: row, Err: message.Error(fmt.Sprintf("%s has no value. Write it like this: max_retries = 3", key))}
	case hasValue && key != "" && !strings.ContainsAny(value, "\"'[{"):
		return &Mistake{Path: path, Line: row, Err: message.Error(fmt.Sprintf("cannot read the value of %s. Put text in quotes, like this: max_wait = \"5m\"", key))}
	}
	return &Mistake{Path: path, Line: row, Err: message.Error(fmt.Sprintf("cannot read this line: %s (%s). A setting looks like this: max_wait = \"5m\"", line, text))}
}

// Unread is a variable that looks like a setting and is none. It may be the user's own, so it is no mistake; but where its
// name is near to a setting's, the user should be told.
type Unread struct {
	Var string
	// Instead is what was probably meant, another variable or a flag; empty if that is not known.
	Instead string
}

// String says that the variable has no effect, and what would have.
func (u Unread) String() string {
	if strings.HasPrefix(u.Instead, "--") {
		return fmt.Sprintf("%s has no effect because it applies to a single call only. Use %s", u.Var, u.Instead)
	}
	return fmt.Sprintf("%s is not a setting%s", u.Var, message.DidYouMean(u.Instead))
}

// Ignored is something in a file that has no effect, and why; or the user's file, if it cannot be reached.
type Ignored struct {
	Path string
	Line int    // 0 if it has none of its own
	Key  string // empty for the whole file
	Why  string
	Own  bool // it is a mistake in the user's own file
}

func (i Ignored) String() string {
	if i.Key != "" {
		return fmt.Sprintf("%s: %s is ignored: %s", i.at(), i.Key, i.Why)
	}
	return fmt.Sprintf("%s is ignored: %s", i.at(), i.Why)
}

// at is where it stands.
func (i Ignored) at() string {
	if i.Line > 0 {
		return i.Path + ":" + strconv.Itoa(i.Line)
	}
	return i.Path
}

// withoutEffect is what of the files has no effect.
type withoutEffect struct{ Ignored []Ignored }

// ignore notes that something of the project's file has no effect.
func (w *withoutEffect) ignore(i Ignored) {
	i.Key, i.Why = printable(i.Key, 60), printable(i.Why, 300)
	w.Ignored = append(w.Ignored, i)
}

// printable is a text from a project's file, bounded and without anything that a terminal would obey.
func printable(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most-1]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Warning says in one line what of the files has no effect; empty if all of it has. tell says whether mistakes in the user's own file are to be told, which it
// is given as text.
func (w *withoutEffect) Warning(tell func(mistakes string) bool) string {
	list, own := slices.Clone(w.Ignored), ""
	for _, i := range list {
		if i.Own {
			own += i.String() + "\n"
		}
	}
	if own != "" && !tell(own) {
		list = slices.DeleteFunc(list, func(i Ignored) bool { return i.Own })
	}
	see := "belay config show"
	if own != "" {
		see = "belay config check"
	}
	switch n := len(list); n {
	case 0:
		return ""
	case 1:
		return list[0].String()
	default:
		return fmt.Sprintf("%s (and %d more: %s)", list[0].String(), n-1, see)
	}
}
