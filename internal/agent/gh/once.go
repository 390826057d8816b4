package gh

import (
	"strings"
	"sync"
)

// extraChangeOptions are the options with which a command makes more than the one change that it is known for.
var extraChangeOptions = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"cache delete":      {"--all", "-a"},
		"discussion create": {"--label", "-l"},
		"issue close":       {"--comment", "-c"},
		"issue comment":     {"--attach"},
		"issue reopen":      {"--comment", "-c"},
		"label create":      {"--force", "-f"},
		"pr close":          {"--comment", "-c", "--delete-branch", "-d"},
		"pr comment":        {"--attach"},
		"pr merge":          {"--delete-branch", "-d"},
		"pr reopen":         {"--comment", "-c"},
		"release delete":    {"--cleanup-tag"},
		"release upload":    {"--clobber"},
		"secret set":        {"--env-file", "-f"},
	}
})

// once reports whether one request at most changes something, and none comes after it: then one that was not sent, or was
// refused, cannot have come after a change. words are those that gh has failed with.
func (l *line) once(words string) bool {
	if l.isAPI() {
		return l.full && !l.opts.Has("--paginate")
	}
	if l.traits&once == 0 || l.mightHave(extraChangeOptions()[l.command]...) {
		return false
	}
	switch l.command {
	case "issue create":
		return l.full && l.followUpOption() == ""
	case "release create":
		return l.full && len(l.opts.Words()) == 1 // files are uploaded after it
	case "release upload":
		return !strings.Contains(words, "uploads") // the address where there may be several, and several tries at each
	}
	return true
}

// mightHave reports whether one of these options may be there, also among several short ones: -sd.
func (l *line) mightHave(names ...string) bool {
	for _, a := range l.rest {
		name, _, _ := strings.Cut(a, "=")
		for _, n := range names {
			bundle := len(n) == 2 && strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--")
			if name == n || bundle && strings.Contains(a, n[1:]) {
				return true
			}
		}
	}
	return false
}
