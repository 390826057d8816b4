package gate

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/gatefile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/sharedfile"
)

// ErrLocked says that a file could not be changed because others were changing it all the time. The change was not made.
var ErrLocked = sharedfile.ErrLocked

// file is the file of a key.
func (f *Files) file(key string) sharedfile.File {
	return sharedfile.File{Path: f.path(key), Damaged: ErrDamaged, Try: f.try}
}

// path is the file of a key.
func (f *Files) path(key string) string { return filepath.Join(f.Dir, gatefile.Name(key)+".json") }

// keyIn is the key as it is written into a file: JSON has only valid UTF-8.
func keyIn(key string) string { return strings.ToValidUTF8(key, "\uFFFD") }

// replace writes a file as a whole or not at all.
func replace(lock *sharedfile.Lock, c content) error {
	c.State.Hold.Reason, c.State.Breaker.Reason = redact.Text(c.State.Hold.Reason), redact.Text(c.State.Breaker.Reason)
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return lock.Replace(append(data, '\n'))
}
