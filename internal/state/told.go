package state

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// Tell reports whether a text is to be told that is told once a day: not where the same was told within a day. Where that cannot be kept, it is told every time.
func Tell(text string) bool {
	dir, err := DefaultDir()
	if err != nil {
		return true
	}
	path := filepath.Join(dir, "told")
	sum := sha256.Sum256([]byte(text))
	now := hex.EncodeToString(sum[:8])
	was, err := safefile.ReadOwn(path, 1<<10)
	if info, serr := os.Lstat(path); err == nil && serr == nil && string(was) == now {
		if age := time.Since(info.ModTime()); age >= 0 && age < 24*time.Hour {
			return false
		}
	}
	if err := new(State).Prepare(); err == nil {
		atomicfile.Write(path, "told.*", []byte(now))
	}
	return true
}
