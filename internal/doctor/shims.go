package doctor

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/term"
)

// checkShims looks at the links of belay shim. A user who has none does not hear of them.
func checkShims() (list []Finding) {
	var names []string
	for _, d := range profile.Known() {
		names = append(names, d.Name)
	}
	for _, dir := range shim.Dirs(names) {
		var good []string
		for _, name := range names {
			switch l := shim.Look(dir, name); l.State {
			case shim.Broken:
				list = append(list, One("shims", Wrong, shimFix(dir, name), fmt.Sprintf("%s leads to %s, which does not exist; it has no effect", term.Tilde(l.Path), term.Tilde(l.Target)))...)
			case shim.Linked:
				if first, isShim := shim.First(name); first != "" && !isShim {
					list = append(list, One("shims", Note, "belay shim status", fmt.Sprintf("%s does not go through belay: %s comes before %s on the PATH", name, term.Tilde(first), term.Tilde(dir)))...)
					continue
				}
				good = append(good, name)
			}
		}
		if len(good) > 0 {
			list = append(list, One("shims", Fine, "", fmt.Sprintf("%s: %s", term.Tilde(dir), message.And(good)))...)
		}
	}
	return list
}

// shimFix is the command that repairs a link.
func shimFix(dir, name string) string {
	if own, err := shim.DefaultDir(); err == nil && own == dir {
		return "belay shim install " + name
	}
	return "belay shim install --dir '" + strings.ReplaceAll(dir, "'", `'\''`) + "' " + name
}
