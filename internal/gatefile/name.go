// Package gatefile says how the files of gates are named, and how those who need a slot and the member of a fleet speak to each other by files.
package gatefile

import (
	"fmt"
	"hash/fnv"
	"io"
	"runtime"
	"strings"
)

// Name is what the files of a key begin with. A key that is a plain word is its own name; any other has a digest,
// which also keeps apart what a file system may not, such as upper and lower case.
func Name(key string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, key)
	if name == key && key != "" && len(key) <= 64 && key[0] != '.' && !(runtime.GOOS == "windows" && isDevice(key)) {
		return name
	}
	h := fnv.New64a()
	io.WriteString(h, key)
	return fmt.Sprintf("%.40s~%016x", strings.TrimLeft(name, "."), h.Sum64())
}

// isDevice reports whether Windows takes a file of that name for a device, whatever its suffix.
func isDevice(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && name[3] >= '0' && name[3] <= '9'
}
