package label

import (
	"os"
	"path/filepath"
)

// Project is the directory that work in a directory belongs to: the root of the repository around it, or the directory
// itself.
func Project(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
