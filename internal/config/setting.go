package config

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Scope says which layers may hold a setting, and what a project's file and a job of a fleet may do with it. Such a file comes with a repository,
// whose authors the user need not know: it may bound a command and slow it down, and never switch on or off what the user
// asks for. A setting that is not certain to do no more than that is User. A job comes from another machine, with a command of its own: it may say how that is run,
// as far as the user of this machine has not: see [UserSettings.Job].
type Scope int

const (
	PerCall   Scope = iota // a flag only
	CallOrJob              // likewise, and a job may give it
	User                   // also the environment and the user's own file
	UserOrJob              // likewise, and a job may give it where the user does not
	Lower                  // also a project's file and a job, which may only lower it
	Raise                  // also a project's file and a job, which may only raise it
	Narrow                 // also a project's file, where each of the values that it stands for is lowered or raised as if it were set itself, and a job
)

// ForFlag reports whether only a flag may hold the setting.
func (s *Setting) ForFlag() bool { return s.Scope <= CallOrJob }

// Where says which layers may hold the setting.
func (s *Setting) Where() string {
	switch s.Scope {
	case PerCall, CallOrJob:
		return "flag"
	case Lower:
		return "flag, env, user, project (only lower)"
	case Raise:
		return "flag, env, user, project (only higher)"
	case Narrow:
		return "flag, env, user, project (only what is stricter)"
	}
	return "flag, env, user"
}

// Setting is one row of the table.
type Setting struct {
	Name  string // as a flag; the environment has BELAY_NAME, files have name with _; see also aliases
	Arg   string // what it takes, for the help; empty for a switch
	usage string
	Group string
	Scope Scope
	value reader
}

// Usage says what it does.
func (s *Setting) Usage() string {
	if !strings.Contains(s.usage, "{") {
		return s.usage
	}
	return strings.NewReplacer("{presets}", strings.Join(profile.Presets(), ", "), "{profiles}", profile.Or(Profiles())).Replace(s.usage)
}

func (s *Setting) set(to *Settings, text string) error { return s.value.read(to, text) }

// Bare reports whether the flag stands without a value: a switch, or one whose value may be left out and is never the next argument.
func (s *Setting) Bare() bool { return s.Arg == "" || s.Arg[0] == '[' }

// Env is the environment variable of the setting.
func (s *Setting) Env() string {
	return "BELAY_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
}

// Key is the setting's key in a file.
func (s *Setting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

// repeats reports whether the flag may be given several times, each with one more value.
func (s *Setting) repeats() bool {
	return s.Name == "budget" || s.Name == "fallback" || s.Name == "tag"
}

// Set gives a setting a value of its own.
func (s *Settings) Set(name, text string) error { return Find(name).set(s, text) }

// Check reports whether text is a value for the setting.
func (s *Setting) Check(text string) error { return s.set(new(Settings), text) }

// Profiles are the names of profiles that files may have settings for.
func Profiles() []string { return profile.Names() }

// checkProfile refuses an unknown profile: its settings would be ignored silently.
func checkProfile(name string) error {
	names := Profiles()
	if slices.Contains(names, name) || profile.Find(name) != nil {
		return nil
	}
	return message.Error(message.NoProfile(name, message.Nearest(name, names), names))
}
