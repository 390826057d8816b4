package config

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/retry"
)

// maxProjectFile is more than any project needs.
const maxProjectFile = 64 << 10

// readProject reads the file of the project that dir is in; nil if there is none. What is wrong with it is in its ignored.
func readProject(dir string) *file {
	place := findProject(dir)
	if place.path == "" {
		if place.above != "" && safefile.IsUsers(place.above) { // another user's is not worth a word
			return &file{path: place.above, project: true, ignored: []Ignored{{Path: place.above, Why: aboveText(place.root)}}}
		}
		return nil
	}
	data, err := safefile.ReadRepository(place.root, place.path, maxProjectFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		why := err.Error()
		if wrong, ok := errors.AsType[*safefile.Error](err); ok {
			why = "it " + wrong.Reason
		}
		return &file{path: place.path, project: true, ignored: []Ignored{{Path: place.path, Why: why}}}
	}
	f, _ := parseFile(place.path, data, true) // a mistake in it is no error
	return f
}

// aboveText says why a file above a directory is not read.
func aboveText(root string) string {
	switch {
	case isRepository(root):
		return message.ProjectAboveRepository(root)
	case root == homeDir():
		return message.ProjectAboveHome()
	}
	return "outside a repository and your home directory, only a file in the working directory is read"
}

// bound lets the project's file take effect where no nearer layer has a value, as far as it bounds what is in force without it.
func (s *Settings) bound(f *file, name string) {
	if f == nil {
		return
	}
	for _, i := range f.ignored {
		s.ignore(i)
	}
	without := s.inForce(name)
	values := s.projectValues(f, name)
	for i := range Table {
		t := &Table[i]
		v, ok := values[t.Name]
		if !ok || s.chosen[t.Name] > inFile {
			continue
		}
		want := new(Settings)
		if t.set(want, v.text) != nil {
			continue // it was checked
		}
		switch why := s.refusal(t, want, without, name); why {
		case "":
			s.apply(t, want, v, without)
		case nothing:
		default:
			s.ignore(Ignored{Path: f.path, Line: v.line, Key: v.key, Why: why})
		}
	}
}

// projectValue is a value that a project's file gives a setting.
type projectValue struct {
	named
	from string
}

// projectValues are the values of the file for a profile, by setting. A preset is the values that it stands for, as far as they are
// not given beside it.
func (s *Settings) projectValues(f *file, name string) map[string]projectValue {
	values := map[string]projectValue{}
	for i := range Table {
		t := &Table[i]
		if v, from, ok := f.value(t, name, ""); ok && t.Scope >= Lower {
			values[t.Name] = projectValue{v, from}
		}
	}
	preset, ok := values["preset"]
	delete(values, "preset")
	if !ok || s.chosen["preset"] > inFile {
		return values
	}
	policy, _ := profile.Preset(preset.text)
	for name, text := range presetValues(policy) {
		if _, given := values[name]; !given {
			values[name] = projectValue{named{text, "preset (" + Find(name).Key() + ")", preset.line}, preset.from + " (preset " + preset.text + ")"}
		}
	}
	return values
}

// presetValues are the settings that a preset gives a value.
func presetValues(p retry.Policy) map[string]string {
	values := map[string]string{}
	for name, text := range map[string]string{
		"max-retries": strconv.Itoa(max(p.MaxRetries, 0)), "base-delay": written(p.BaseDelay), "max-delay": written(p.MaxDelay),
		"max-wait": written(p.MaxWait), "timeout": written(p.Timeout),
	} {
		if text != "" {
			values[name] = text
		}
	}
	if p.Factor != 0 {
		values["factor"] = strconv.FormatFloat(p.Factor, 'g', -1, 64)
	}
	if p.Jitter != (retry.Jitter{}) {
		values["jitter"] = p.Jitter.String()
	}
	return values
}

// apply gives a setting the project's value. Those that a CLI's profile has limits of its own for are bounds beside them.
func (s *Settings) apply(t *Setting, want *Settings, v projectValue, without *inForce) {
	switch t.Name {
	case "timeout":
		s.AtMost.Timeout = want.Timeout
	case "stall-timeout":
		s.AtMost.Stall = want.StallTimeout
	default:
		t.set(s, v.text)
	}
	if t.Name == "max-wait" && !s.Chosen("max-wait") {
		s.AtMost.Starts = without.starts // a policy with a longest wait has none
	}
	s.note(t.Name, v.text, v.from)
}

// exclude resolves settings that contradict each other: of two layers the nearer wins, in one layer it is a mistake.
func (s *Settings) exclude() error {
	for _, pair := range []struct {
		both bool
		a, b string
		off  [2]func() // takes back a, or b
	}{
		{s.NoStdin && s.ReplayStdin, "no-stdin", "replay-stdin", [2]func(){func() { s.NoStdin = false }, func() { s.ReplayStdin = false }}},
		{s.Quiet && s.Verbose, "quiet", "verbose", [2]func(){func() { s.Quiet = false }, func() { s.Verbose = false }}},
	} {
		if !pair.both {
			continue
		}
		from := [2]string{s.From(pair.a), s.From(pair.b)}
		switch near := nearness(from[0]) - nearness(from[1]); {
		case near < 0:
			pair.off[0]()
		case near > 0:
			pair.off[1]()
		case nearness(from[0]) == 0:
			pair.off[1]()
			s.ignore(Ignored{Path: UserFile(), Key: Find(pair.b).Key(), Why: message.NotTogether(Find(pair.a).Key(), Find(pair.b).Key()), Own: true})
		default:
			return message.Error(message.NotTogether(from[0], from[1]))
		}
	}
	return nil
}

// nearness orders the places that values come from; files are all one.
func nearness(from string) int {
	switch {
	case strings.HasPrefix(from, "--"):
		return 2
	case strings.HasPrefix(from, "BELAY_"):
		return 1
	}
	return 0
}
