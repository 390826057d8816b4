package message

import "fmt"

// ShimsLinked says which links a directory has now.
func ShimsLinked(names []string, dir, belay string, changed bool) string {
	if !changed {
		return fmt.Sprintf("Nothing to do: %s already links %s to %s.", dir, And(names), belay)
	}
	return fmt.Sprintf("Linked %s to %s, in %s.", And(names), belay, dir)
}

// ShimsRemoved says which links were removed.
func ShimsRemoved(names []string, dir string) string {
	if len(names) == 0 {
		return fmt.Sprintf("Nothing to remove: %s has no links to belay.", dir)
	}
	return fmt.Sprintf("Removed the links %s from %s.", And(names), dir)
}

// ShimState says in a few words what a command of that name reaches. state is what the directory of the links has for it, and
// installed says that there is a CLI behind it.
func ShimState(state string, reached, installed bool, first string) string {
	switch {
	case reached && !installed:
		return "not installed: the link finds no CLI"
	case reached:
		return "through belay"
	case state == "broken":
		return "not through belay: the link leads nowhere"
	case state == "other":
		return "not through belay: not a link to belay"
	case state == "none":
		return "not through belay: no link"
	case first == "":
		return "not through belay: not on the PATH"
	}
	return fmt.Sprintf("not through belay: %s comes first", first)
}
