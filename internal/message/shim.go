package message

import "fmt"

// ShimsLinked says which links a directory has now.
func ShimsLinked(names []string, dir, belay string, changed bool) string {
	if !changed {
		return fmt.Sprintf("Nothing to do: %s already links %s to %s.", dir, and(names), belay)
	}
	return fmt.Sprintf("Linked %s to %s, in %s.", and(names), belay, dir)
}

// ShimTaken says that a link was not made or removed because something else has its name.
func ShimTaken(path string) string { return path + " is not a link to belay; left as it is" }

// ShimFirst tells the user to put the directory of the links first on the PATH.
func ShimFirst() string {
	return "Put the directory first on your PATH, in the file that your shell reads at its start:"
}

// ShimIsFirst says that the directory is on the PATH already.
func ShimIsFirst() string { return "The directory is first on your PATH already. The line for it is:" }

// ShimForSDKs says that SDKs need a setting.
func ShimForSDKs() string {
	return "SDKs do not look on the PATH. To see what to set for them: belay shim status"
}

// ShimSDKs is the heading of the settings of SDKs.
func ShimSDKs() string { return "SDKs start a CLI of their own. To have them start the link, set:" }

// ShimsRemoved says which links were removed.
func ShimsRemoved(names []string, dir string) string {
	if len(names) == 0 {
		return fmt.Sprintf("Nothing to remove: %s has no links to belay.", dir)
	}
	return fmt.Sprintf("Removed the links %s from %s.", and(names), dir)
}

// ShimsToRemove says which links would be removed.
func ShimsToRemove(names []string, dir string) string {
	return fmt.Sprintf("Would remove the links %s from %s.", and(names), dir)
}

// NotForPath says that a directory cannot stand on a PATH.
func NotForPath(dir, separator string) string {
	return fmt.Sprintf("%s cannot be on the PATH: it has a %s in its name", dir, separator)
}

// NotAShim says that Belay knows no CLI of that name.
func NotAShim(name string) string { return fmt.Sprintf("belay knows no CLI %q", name) }

// ShimsAre names the CLIs that there can be links for.
func ShimsAre(names []string) string { return "there are " + and(names) }

// NoShimsHere says that the system has no links that would do.
func NoShimsHere() string {
	return "belay shim needs symbolic links, which Windows keeps from most users"
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

// ShimBroken says that a link leads to a Belay that is gone.
func ShimBroken(link, target string) string {
	return fmt.Sprintf("%s leads to %s, which does not exist; it has no effect", link, target)
}

// ShimBehind says that a link has no effect because the CLI itself comes first.
func ShimBehind(name, first, dir string) string {
	return fmt.Sprintf("%s does not go through belay: %s comes before %s on the PATH", name, first, dir)
}

// ShimsFine says that links are in use.
func ShimsFine(names []string, dir string) string {
	return fmt.Sprintf("%s: %s", dir, and(names))
}
