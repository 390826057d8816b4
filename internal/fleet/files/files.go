// Package files brings the files of a job from the machine that submits it to the one that works on it.
//
// [Commit] names the commit that a directory has checked out, and a [Cache] checks it out on another machine, from the same repository.
// What a job asks for may be written by anyone who can submit jobs: a [Repository] is one that git can be given without it
// being taken for something else, and a check-out runs nothing that is in the repository.
package files

import (
	"path/filepath"
	"strings"
)

// Within reports whether a path is a root or below it. Both are without links.
func Within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
