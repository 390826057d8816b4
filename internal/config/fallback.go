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

// fallbackArgs reads the tables [fallback.NAME] of the user's file. The key of what is wrong is returned beside the error.
func fallbackArgs(tables map[string]any) (args map[string][]string, key string, err error) {
	args = map[string][]string{}
	for name, value := range tables {
		key = "fallback." + name
		if err := checkProfile(name); err != nil {
			return nil, key, err
		}
		table, ok := value.(map[string]any)
		if !ok {
			return nil, key, message.Error(message.MustBeTable("[fallback.codex]"))
		}
		for own, value := range table {
			if own != "args" {
				return nil, key + "." + own, message.Error(message.UnknownKey("args"))
			}
			if args[name], err = arguments(value, message.MustBeArgs()); err != nil { // none at all is an answer too
				return nil, key + ".args", err
			}
		}
	}
	return args, "", nil
}

// fallbackRows are the arguments that the user's file gives fallbacks.
func (s *Settings) fallbackRows() (list []Shown) {
	for _, name := range slices.Sorted(maps.Keys(s.FallbackArgs)) {
		list = append(list, Shown{Kind: "fallback", Name: name, Value: strings.Join(s.FallbackArgs[name], " "), From: UserFile()})
	}
	return list
}
