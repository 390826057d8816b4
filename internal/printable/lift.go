package printable

import "strings"

// LiftCommand is what to type to lift a gate, as it can be pasted into a shell.
func LiftCommand(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@", r)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(key, "-") {
		key = "'" + strings.ReplaceAll(key, "'", `'\''`) + "'"
		return "belay gates reset -- " + key
	}
	return "belay gates reset " + key
}
