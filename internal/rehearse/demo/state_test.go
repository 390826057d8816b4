package demo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// A demo takes the place of an earlier one, also of an earlier version, and of nothing else that has its name.
func TestDemo_RemovesOnlyADemo(t *testing.T) {
	for name, tt := range map[string]struct {
		files []string
		stays bool
	}{
		"marked":          {[]string{mark, "log.jsonl"}, false},
		"earlier version": {[]string{"log.jsonl", "gates/x", "runs/y"}, false},
		"empty":           {nil, true},
		"the user's":      {[]string{"index.html", "log.jsonl"}, true},
		"a file":          {[]string{""}, true},
	} {
		dir := filepath.Join(t.TempDir(), "demo")
		if name != "a file" {
			os.Mkdir(dir, 0o700)
		}
		for _, file := range tt.files {
			path := filepath.Join(dir, file)
			os.MkdirAll(filepath.Dir(path), 0o700)
			must.OK(t, os.WriteFile(path, nil, 0o600))
		}
		err := remove(dir)
		if _, lerr := os.Lstat(dir); (lerr == nil) != tt.stays || (err != nil) != (tt.stays && len(tt.files) > 0) {
			t.Errorf("%s: %v, %v", name, err, lerr)
		}
	}
}
