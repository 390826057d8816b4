package clientfile

import (
	"slices"
	"strings"
)

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
