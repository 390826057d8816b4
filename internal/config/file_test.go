package config

import (
	"strings"
	"testing"
)

// A file of anybody's making gives a value or one line that says what is wrong with it.
func FuzzParseFile(f *testing.F) {
	for _, s := range []string{
		"max_retries = 3\n[profile.generic]\ntimeout = \"5s\"",
		"[[rule]]\nname = \"r\"\nmatch = \"x\"\nclass = \"auth\"\nexit = [1, 2]",
		"retry_on_exit = [1, 75]", "a.b.c = 1", "[profile]\nx = 1", "rule = 3", "[[profile]]", "timeout = {a = 1}",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, text string, project bool) {
		file, err := parseFile("c.toml", []byte(text), project)
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), "c.toml"):
			t.Errorf("error without the file: %v", err)
		case err == nil && project && len(file.rules) > 0:
			t.Error("a project's rules were taken")
		}
	})
}
