package clientfile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/safefile"
)

// mainTree is the main working tree of the git repository that a directory is in; the directory itself if it is in none.
func mainTree(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(filepath.Join(at, ".git"))
		switch {
		case err == nil && info.IsDir():
			return at
		case err == nil && info.Mode().IsRegular():
			return linkedTree(at)
		case filepath.Dir(at) == at:
			return dir
		}
	}
}

// linkedTree is the main working tree of a linked one, as `git worktree add` makes them; the directory itself if it is none.
func linkedTree(dir string) string {
	target, ok := strings.CutPrefix(firstLine(filepath.Join(dir, ".git")), "gitdir: ")
	if !ok {
		return dir
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	common := firstLine(filepath.Join(target, "commondir"))
	if common == "" {
		return dir
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(target, common)
	}
	if filepath.Base(common) != ".git" {
		return dir
	}
	return filepath.Dir(common)
}

// firstLine is the first line of a small regular file; empty if there is none.
func firstLine(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := safefile.ReadRegular(path, 4096)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r")
}
