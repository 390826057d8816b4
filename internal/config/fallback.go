package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// Fallback is an agent that gets a request when the one before cannot take it.
type Fallback struct{ Profile, Model string }

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
func (f *file) readFallbacks(t *fields) {
	f.fallbacks = map[string][]string{}
	for _, name := range t.keys() {
		if err := checkProfile(name); err != nil {
			t.fail(name, err)
		}
		of := t.tableOf(name, message.MustBeTable("[fallback.codex]"))
		args := read(of, "args", func(v any) ([]string, error) { return arguments(v, message.MustBeArgs()) })
		if of.close(); args != nil { // none at all is an answer too
			f.fallbacks[name] = args
		}
	}
}

// fallbackRows are the arguments that the user's file gives fallbacks.
func (s *Settings) fallbackRows() (list []Shown) {
	for _, name := range slices.Sorted(maps.Keys(s.FallbackArgs)) {
		list = append(list, Shown{Kind: "fallback", Name: name, Value: strings.Join(s.FallbackArgs[name], " "), From: UserFile()})
	}
	return list
}
