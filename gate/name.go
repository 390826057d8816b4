package gate

import (
	"fmt"
	"hash/fnv"
	"io"
	"path/filepath"
	"strings"
)

// path is the file of a key.
func (f *Files) path(key string) string { return filepath.Join(f.Dir, fileName(key)+".json") }

// fileName is what the files of a key begin with. A key that is a plain word is its own name; any other has a digest,
// which also keeps apart what a file system may not, such as upper and lower case.
func fileName(key string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, key)
	if name == key && key != "" && len(key) <= 64 && key[0] != '.' {
		return name
	}
	h := fnv.New64a()
	io.WriteString(h, key)
	return fmt.Sprintf("%.40s~%016x", strings.TrimLeft(name, "."), h.Sum64())
}

// keyIn is the key as it is written into a file: JSON has only valid UTF-8.
func keyIn(key string) string { return strings.ToValidUTF8(key, "\uFFFD") }
