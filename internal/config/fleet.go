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

// readFleet reads the table [fleet] of the user's file.
func readFleet(t *fields) (f Fleet) {
	list := func(text string) (list []string, _ error) {
		for one := range strings.SplitSeq(text, ",") {
			if one = strings.TrimSpace(one); one != "" {
				list = append(list, one)
			}
		}
		return list, nil
	}
	for _, one := range parsed(t, "allow", list) {
		if err := f.Add(one); err != nil {
			t.fail("allow", err)
		}
	}
	env := "allow_env"
	if _, ok := t.table["allow-env"]; ok {
		env = "allow-env"
	}
	f.Env = parsed(t, env, list)
	t.close()
	return f
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
