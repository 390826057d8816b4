package gh

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// line is a command line taken apart.
type line struct {
	args    []string
	dir     string
	command string // "issue create"; empty if there is none
	traits  commandTraits
	known   bool     // gh has this command
	help    bool     // it shows help or the version and does nothing else
	rest    []string // what follows the command, with what stood before or in it
	// opts is rest by the command's own table, for those that have one; else empty.
	opts agent.CommandLine
	full bool // opts has all of it
}

// globalOptions may stand before a subcommand.
var globalOptions = []string{"-R", "--repo"}

// read takes arguments apart, which do not include the command itself.
func read(args []string, dir string) line {
	l := line{args: args, dir: dir}
	var words []string
	at := 0
	for at < len(args) && !l.known {
		switch a := args[at]; {
		case slices.Contains(globalOptions, a) && at+1 < len(args):
			l.rest = append(l.rest, a, args[at+1])
			at += 2
		case strings.HasPrefix(a, "-"):
			l.rest = append(l.rest, a)
			at++
		case len(words) == 3:
			return l
		default:
			if s, ok := synonyms[a]; ok {
				a = s
			}
			words = append(words, a)
			l.command = strings.Join(words, " ")
			if s, ok := commandSynonyms[l.command]; ok {
				l.command = s
			}
			l.traits, l.known = commands()[l.command]
			at++
		}
	}
	l.rest = append(l.rest, args[at:]...)
	if table, ok := options()[l.command]; ok {
		l.opts = table.Read(l.rest)
		l.full = l.opts.Unknown == ""
	}
	ours := l.known && l.traits&foreign == 0 || !l.known && isGroup(l.command)
	if l.help = len(words) == 0 || ours && l.shows("--help"); l.help {
		l.traits, l.known = reads|short, true
	}
	return l
}

// shows reports whether the command shows its help or version and does nothing else. What follows an option may be its
// value: an issue can be called --help.
func (l *line) shows(what string) bool {
	if l.full {
		return l.opts.Has(what)
	}
	for i, a := range l.rest {
		switch {
		case a == "--":
			return false
		case a == what:
			return i == 0 || !strings.HasPrefix(l.rest[i-1], "-") || strings.Contains(l.rest[i-1], "=")
		}
	}
	return false
}

// unknownIn reports whether gh's words say that it has no such command.
func (l *line) unknownIn(words string) bool {
	rest, ok := strings.CutPrefix(words, `unknown command "`)
	name, rest, _ := strings.Cut(rest, `"`)
	return ok && slices.Contains(l.args, name) && strings.HasPrefix(rest, ` for "gh`)
}

// has reports whether one of these options is there, by name. It may take a value for one: what hangs on it must bear that.
func (l *line) has(names ...string) bool {
	for _, a := range l.rest {
		if a == "--" {
			return false
		}
		name, _, _ := strings.Cut(a, "=")
		if slices.Contains(names, name) {
			return true
		}
		for _, n := range names { // -tTitle, -F-
			if len(n) == 2 && len(a) > 2 && a[0] == '-' && a[1] == n[1] {
				return true
			}
		}
	}
	return false
}

// hasWord reports whether something stands by itself. An option's value counts as one.
func (l *line) hasWord() bool {
	for i := 0; i < len(l.rest); i++ {
		a := l.rest[i]
		if slices.Contains(globalOptions, a) {
			i++
			continue
		}
		if !strings.HasPrefix(a, "-") {
			return true
		}
	}
	return false
}

// interactive reports whether the command wants a terminal or a browser, or would ask something if it had a terminal.
func (l *line) interactive() bool {
	if l.help {
		return false
	}
	if l.traits&terminal != 0 || l.has("--web", "--editor", "--recover") {
		return true
	}
	if l.has("-w") && l.command != "run list" { // there it is --workflow
		return true
	}
	for _, oneOf := range noPrompts()[l.command] {
		if !l.has(oneOf...) {
			return true
		}
	}
	if instead, asks := asksWhich()[l.command]; asks && !l.hasWord() && !l.has(instead...) {
		return true
	}
	return slices.Contains(asksWhat, l.command) && !slices.ContainsFunc(l.rest, func(a string) bool {
		return strings.HasPrefix(a, "-") && !slices.Contains(globalOptions, a)
	})
}

// isAPI says that it is `gh api`; isGraphQL, that it asks the GraphQL API by it.
func (l *line) isAPI() bool { return l.command == "api" }
func (l *line) isGraphQL() bool {
	return l.isAPI() && strings.TrimPrefix(l.endpoint(), "/") == "graphql"
}

// endpoint is what `gh api` is to call; empty if that is not known.
func (l *line) endpoint() string {
	if words := l.opts.Words(); len(words) > 0 {
		return words[0].Values[0]
	}
	return ""
}
