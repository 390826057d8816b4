package logfile

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// memberFor is how long a machine counts as a member of a fleet after its member was last at work. What was not shipped by then no longer keeps
// files from being pruned.
const memberFor = 30 * 24 * time.Hour

func shippedPath(dir string) string { return filepath.Join(dir, "fleet", "shipped.json") }

// WriteShipped puts on record how far each file of the log that was moved aside has been shipped to the fleet, by identity.
func WriteShipped(dir string, shipped map[string]int64) error {
	data, err := json.Marshal(shipped)
	if err != nil {
		return err
	}
	path := shippedPath(dir)
	if err := safefile.MakeOwnDir(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, ".shipped-*", data)
}

// ReadShipped reads it, and says whether this machine is a member of a fleet.
func ReadShipped(dir string) (shipped map[string]int64, member bool) {
	path := shippedPath(dir)
	info, err := os.Lstat(path)
	if err != nil || time.Since(info.ModTime()) > memberFor {
		return nil, false
	}
	if data, err := safefile.ReadOwn(path, PieceSize); err == nil {
		json.Unmarshal(data, &shipped) // what cannot be read counts as not shipped
	}
	return shipped, true
}
