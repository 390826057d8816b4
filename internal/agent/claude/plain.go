package claude

import (
	"slices"
	"strings"
)

// plainOptions are those that start nothing, read no file, change no permission and resume no session. What is not here is not plain.
var plainOptions = []string{"-p", "-n", "--append-system-prompt", "--betas", "--disable-slash-commands", "--disallowedTools", "--effort", "--exclude-dynamic-system-prompt-sections", "--fallback-model",
	"--include-partial-messages", "--json-schema", "--max-budget-usd", "--max-thinking-tokens", "--max-turns", "--model", "--no-session-persistence", "--output-format", "--strict-mcp-config", "--system-prompt",
	"--thinking", "--thinking-display", "--verbose"}

// plainTools are those that run no commands and read no files.
var plainTools = []string{"TodoWrite", "WebSearch"}

// plainValues are the values with which an option is plain, of which it may have several; nil if that does not depend on them.
func plainValues(option string) []string {
	switch option {
	case "--tools", "--allowedTools":
		return plainTools
	case "--permission-mode":
		return []string{"default", "plan"}
	case "--input-format":
		return []string{"text"}
	}
	return nil
}

// noFiles keeps claude from reading the files that a prompt names as @path. Without tools for it, or with Read disallowed as a whole, 2.1.325 still reads them.
const noFiles = "--disallowedTools=Read(//**)"

// plain returns the arguments with which claude starts no other program and reads no file, whatever the prompt asks for: those given, noFiles, and tools that run no commands if they name none.
// By itself claude runs commands that it takes for harmless, such as echo. refused is the first argument that is not plain.
func plain(args []string) (with []string, refused string) {
	line := options().Read(args)
	for _, a := range line.Read {
		written, _, _ := strings.Cut(line.Args[a.From], "=")
		values := plainValues(a.Name)
		switch {
		case a.Name == "": // one word may be a command, such as mcp; and a slash begins one
			if text := strings.TrimSpace(a.Values[0]); !strings.Contains(text, " ") || strings.HasPrefix(text, "/") {
				return nil, a.Values[0]
			}
		case values != nil:
			for _, one := range strings.FieldsFunc(strings.Join(a.Values, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
				if !slices.Contains(values, one) {
					return nil, written + "=" + one
				}
			}
		case !slices.Contains(plainOptions, a.Name):
			return nil, written
		}
	}
	if line.Unknown != "" {
		unknown, _, _ := strings.Cut(line.Unknown, "=")
		return nil, unknown
	}
	if !line.Has("-p") {
		return nil, Name // without -p it talks to a person
	}
	with = []string{noFiles}
	if !line.Has("--tools") {
		with = append(with, "--tools="+strings.Join(plainTools, ","))
	}
	return append(with, args...), ""
}
