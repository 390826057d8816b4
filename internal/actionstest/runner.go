// Package actionstest reads what a step has written as the runner of GitHub Actions does, for tests: workflow commands in the log and
// the file of outputs.
package actionstest

import (
	"fmt"
	"slices"
	"strings"
)

// names are the commands that the runner obeys.
var names = []string{"add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group", "internal-set-repo-path", "notice", "remove-matcher",
	"save-state", "set-env", "set-output", "stop-commands", "warning"}

// Command is one that the runner has found in the log.
type Command struct {
	Name       string
	Properties map[string]string
	Data       string
}

// Commands are those in a log. There are two forms: ::name key=value,key=value::data as a line, and ##[name key=value;key=value]data
// anywhere in one.
func Commands(log string) (found []Command) {
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if begun, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "::"); ok {
			if info, data, ok := strings.Cut(begun, "::"); ok {
				if c, ok := parse(info, data, ",", newForm); ok {
					found = append(found, c)
					continue
				}
			}
		}
		if _, begun, ok := strings.Cut(line, "##["); ok {
			if info, data, ok := strings.Cut(begun, "]"); ok {
				if c, ok := parse(info, data, ";", oldForm); ok {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// What stands for other characters, in the order in which the runner puts them back.
var (
	newForm = []string{"%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%"}
	oldForm = []string{"%3B", ";", "%0D", "\r", "%0A", "\n", "%5D", "]", "%25", "%"}
)

func parse(info, data, separator string, form []string) (Command, bool) {
	name, rest, _ := strings.Cut(info, " ")
	if !slices.Contains(names, name) {
		return Command{}, false
	}
	unescape := func(text string) string {
		for pair := range slices.Chunk(form, 2) {
			text = strings.ReplaceAll(text, pair[0], pair[1])
		}
		return text
	}
	c := Command{Name: name, Properties: map[string]string{}, Data: unescape(data)}
	for property := range strings.SplitSeq(rest, separator) {
		if key, value, ok := strings.Cut(strings.TrimSpace(property), "="); ok {
			c.Properties[key] = unescape(value)
		}
	}
	return c, true
}

// Outputs are those in the file of a step. A file that the runner would refuse is an error, and so is a name that is there twice.
func Outputs(file string) (map[string]string, error) {
	outputs := map[string]string{}
	lines := strings.Split(file, "\n")
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		if line == "" {
			continue
		}
		equals, here := strings.Index(line, "="), strings.Index(line, "<<")
		var name, value string
		switch {
		case equals >= 0 && (here < 0 || equals < here):
			name, value, _ = strings.Cut(line, "=")
		case here > 0 && line[here+2:] != "":
			name = line[:here]
			end := slices.Index(lines, line[here+2:])
			if end < 0 {
				return nil, fmt.Errorf("the value of %s has no end", name)
			}
			value, lines = strings.Join(lines[:end], "\n"), lines[end+1:]
		default:
			return nil, fmt.Errorf("%q is no output", line)
		}
		if _, twice := outputs[name]; twice {
			return nil, fmt.Errorf("%s is there twice", name)
		}
		outputs[name] = value
	}
	return outputs, nil
}
