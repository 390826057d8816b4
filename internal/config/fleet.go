package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Fleet is what the table [fleet] of the user's file lets jobs of other machines do on this one. The zero value lets them do nothing.
type Fleet struct {
	// Profiles are what jobs may run, and Roots the directories in which they may work.
	Profiles, Roots []string
	// Plain are the profiles that jobs may run with arguments that start nothing else.
	Plain []string
	// Repositories are those whose commits jobs may work on; one that ends with a slash stands for all below it.
	Repositories []string
	// Archives lets jobs bring files with them.
	Archives bool
	// Env are the variables that jobs may set.
	Env []string
}

// Fleet is what the file says of jobs of a fleet.
func (user UserSettings) Fleet() Fleet { return user.fleet }

// fleetTable reads the table [fleet]. The key of what is wrong is returned beside the error.
func fleetTable(v any) (f Fleet, key string, err error) {
	table, ok := v.(map[string]any)
	if !ok {
		return f, "fleet", message.Error(message.MustBeTable("[fleet]"))
	}
	for name, value := range table {
		key = "fleet." + name
		text, err := flat(value)
		if err != nil {
			return f, key, err
		}
		var list []string
		for one := range strings.SplitSeq(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, one)
			}
		}
		switch name {
		case "allow":
			for _, one := range list {
				if err := f.Add(one); err != nil {
					return f, key, err
				}
			}
		case "allow_env", "allow-env":
			f.Env = list
		default:
			return f, key, message.Error(message.UnknownKey("allow", "allow_env"))
		}
	}
	return f, "", nil
}

// plainSuffix follows the name of a profile that jobs may run with arguments that start nothing else.
const plainSuffix = ":plain"

// Add allows one thing more: a profile, as it is or plain, a directory, a repository, or "archive".
func (f *Fleet) Add(one string) error {
	if rest, ok := strings.CutPrefix(one, "~/"); ok {
		one = filepath.Join(homeDir(), rest)
	}
	name, isPlain := strings.CutSuffix(one, plainSuffix)
	known := profile.Find(name)
	switch {
	case isPlain && known != nil && known.Plain == nil:
		return message.Error(fmt.Sprintf("%s:plain: %s may run commands whatever its arguments are; allow %s, or leave it out", name, name, name))
	case isPlain && known != nil:
		f.Plain = append(f.Plain, name)
	case filepath.IsAbs(one):
		f.Roots = append(f.Roots, filepath.Clean(one))
	case strings.Contains(one, ":"): // a URL, or user@host:path
		f.Repositories = append(f.Repositories, one)
	case one == "archive":
		f.Archives = true
	default:
		if err := checkProfile(one); err != nil {
			return err
		}
		f.Profiles = append(f.Profiles, one)
	}
	return nil
}
