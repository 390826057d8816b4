package clientfile

import (
	"path"
	"slices"
	"strings"
)

// The line of a wrapped command, between belay's own words and the command's, and behind that.
const (
	middle = ` -- "$0" -c '`
	ending = `'`
)

// wrapLine is the literal, without quotes, of a command line behind belay. A ' in it ends the quotes, stands for itself
// and begins them anew; it keeps the form in which it was written.
func wrapLine(belay string, words []string, line []unit) string {
	var b strings.Builder
	b.WriteString(escaped(quote(belay) + " " + strings.Join(words, " ") + middle))
	for _, u := range line {
		if u.char == '\'' {
			b.WriteString(escaped(`'\`) + u.written + escaped(`'`))
		} else {
			b.WriteString(u.written)
		}
	}
	b.WriteString(escaped(ending))
	return b.String()
}

// unwrapLine is the opposite. ok is false for a line that wrapLine has not made.
func unwrapLine(line []unit) (inner []unit, ok bool) {
	text := meaning(line)
	head, _, found := strings.Cut(text, middle)
	if !found || !callsBelay(head, "hook") || !strings.Contains(head, " hook --name ") || !strings.HasSuffix(text, ending) {
		return nil, false
	}
	begin, end := len([]rune(head+middle)), len(line)-len(ending)
	for i := begin; i < end; i++ {
		if line[i].char != '\'' {
			inner = append(inner, line[i])
			continue
		}
		if i+3 >= end || line[i+1].char != '\\' || line[i+2].char != '\'' || line[i+3].char != '\'' {
			return nil, false
		}
		inner = append(inner, line[i+2])
		i += 3
	}
	return inner, end >= begin
}

// callsBelay reports whether a line begins with a call of a command of belay, up to its flags.
func callsBelay(line, sub string) bool {
	word, rest, ok := shellWord(line)
	if !ok || !isBelay(word) {
		return false
	}
	first, _, _ := shellWord(strings.TrimLeft(rest, " "))
	return first == sub
}

// isBelay reports whether a word is the name of belay or a path to it.
func isBelay(word string) bool {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe") == "belay"
}

// shellWord takes the first word off a line, with '…' and \c in it; anything else of a shell's language it does not know.
func shellWord(line string) (word, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			return b.String(), line[i:], true
		case c == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return "", "", false
			}
			b.WriteString(line[i+1 : i+1+end])
			i += end + 1
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case strings.IndexByte("\"$`;&|<>()\n*?[]#~", c) >= 0:
			return "", "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", true
}

// quote writes a word for a shell, plain if it can be.
func quote(word string) string {
	for _, r := range word {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-", r) {
			return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return word
}

// runners are programs that are given another one to run; that one is the hook.
var runners = []string{"sh", "bash", "zsh", "dash", "env", "exec", "python",
	"python3", "node", "bun", "deno", "ruby", "perl", "uv", "uvx", "npx", "run", "nohup"}

// nameOf is what failures of a command are counted by: the name of the script or program that does the work, as far as
// that can be seen.
func nameOf(command string, args []string) string {
	words := args
	if args == nil {
		words = strings.Fields(command)
	} else {
		words = append([]string{command}, args...)
	}
	for _, w := range words {
		w = strings.Trim(w, `"';&|()`)
		base := path.Base(strings.ReplaceAll(strings.NewReplacer(`"`, "", `'`, "").Replace(w), `\`, "/"))
		if w == "" || strings.HasPrefix(w, "-") || strings.Contains(w, "=") || slices.Contains(runners, base) || base == "cd" {
			continue
		}
		if clean := strings.Trim(strings.Map(plain, base), "-."); clean != "" {
			return clean[:min(len(clean), 40)]
		}
	}
	return "hook"
}

// plain keeps what means nothing to a shell.
func plain(r rune) rune {
	if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", r) {
		return r
	}
	return '-'
}

// isName reports whether a word is the one that Install writes behind the name of the subcommand.
func isName(sub, word string) bool {
	return word == "--name" || sub == "mcp" && strings.HasPrefix(word, "--name=")
}
