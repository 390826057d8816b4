package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// setFallbacks reads the fallbacks of a run, in their order. An empty text takes away those of another layer.
func setFallbacks(s *Settings, text string) error {
	s.Fallbacks = nil
	if text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, ",") {
		name, model, named := strings.Cut(strings.TrimSpace(one), ":")
		if name == "" || named && model == "" || strings.HasPrefix(model, "-") {
			return message.Error(fmt.Sprintf("%q is not a fallback, such as codex or claude:sonnet", one))
		}
		f := Fallback{Profile: name, Model: model}
		if slices.Contains(s.Fallbacks, f) {
			return message.Error(one + " is named twice")
		}
		s.Fallbacks = append(s.Fallbacks, f)
	}
	return nil
}

// readFallbacks reads the tables [fallback.NAME] of the user's file.
func readFallbacks(t *fields) map[string][]string {
	all := map[string][]string{}
	for _, name := range t.keys() {
		if err := checkProfile(name); err != nil {
			t.fail(name, err)
		}
		of := t.tableOf(name, message.MustBeTable("[fallback.codex]"))
		args := read(of, "args", func(v any) ([]string, error) { return arguments(v, message.MustBeArgs()) })
		if of.close(); args != nil { // none at all is an answer too
			all[name] = args
		}
	}
	return all
}
