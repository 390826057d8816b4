package settings

import (
	"slices"
	"strings"
)

// edit replaces a piece of the text.
type edit struct {
	start, end int
	text       string
}

func apply(text []byte, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.Write(text[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.Write(text[at:])
	return []byte(b.String())
}

// Install returns the text with belay in front of every hook that has none yet. belay is how a shell finds it.
func (f *File) Install(belay string) []byte {
	var edits []edit
	for i := range f.Hooks {
		h := &f.Hooks[i]
		switch {
		case h.Wrapped || h.Why != "":
		case h.args != nil:
			edits = append(edits, f.wrapArgs(h, belay)...)
		default:
			edits = append(edits, edit{h.command.start + 1, h.command.end - 1, wrapLine(belay, f.words(h), f.units(*h.command))})
		}
	}
	return apply(f.Text, edits)
}

// Uninstall returns the text without belay, where Install has put it.
func (f *File) Uninstall() []byte {
	var edits []edit
	for i := range f.Hooks {
		h := &f.Hooks[i]
		switch {
		case !h.Exactly:
		case h.args != nil:
			edits = append(edits, f.unwrapArgs(h)...)
		default:
			inner, _ := unwrapLine(f.units(*h.command))
			edits = append(edits, edit{h.command.start + 1, h.command.end - 1, written(inner)})
		}
	}
	return apply(f.Text, edits)
}

// wrapped reports whether belay stands in front of a hook, and whether Install has put it there.
func (f *File) wrapped(h *Hook) (wrapped, exactly bool) {
	if h.args == nil {
		_, exactly = unwrapLine(f.units(*h.command))
		return exactly || isBelay(h.Command), exactly
	}
	words := f.argsOf(h)
	if !isBelay(quote(h.Command)+" hook") || len(words) == 0 || words[0] != "hook" {
		return false, false
	}
	at := slices.Index(words, "--")
	return true, at > 0 && at+1 < len(words) && words[1] == "--name" && h.args.items[at+1].kind == '"'
}

// argsOf are the arguments of a command that runs without a shell; nil if it has none of its own.
func (f *File) argsOf(h *Hook) []string {
	if h.args == nil || h.args.kind != '[' {
		return nil
	}
	words := make([]string, len(h.args.items))
	for i, item := range h.args.items {
		if item.kind == '"' {
			words[i] = f.text(item)
		}
	}
	return words
}

// wrapArgs wraps a command that runs without a shell: belay takes its place, and it becomes an argument.
func (f *File) wrapArgs(h *Hook, belay string) []edit {
	var b strings.Builder
	for _, w := range append(f.words(h), "--") {
		b.WriteString(`"` + write(w) + `", `)
	}
	b.Write(f.Text[h.command.start:h.command.end])
	if len(h.args.items) > 0 {
		b.WriteString(", ")
	}
	at := h.args.start + 1
	return []edit{{h.command.start, h.command.end, `"` + write(belay) + `"`}, {at, at, b.String()}}
}

func (f *File) unwrapArgs(h *Hook) []edit {
	at := slices.Index(f.argsOf(h), "--") + 1
	command := h.args.items[at]
	end := command.end
	if at+1 < len(h.args.items) {
		end += len(", ")
	}
	return []edit{{h.command.start, h.command.end, string(f.Text[command.start:command.end])}, {h.args.start + 1, end, ""}}
}
