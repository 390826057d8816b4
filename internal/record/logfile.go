package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// LogFile is a file of the log of a state directory, for those who take its lines elsewhere as they stand. It is known by its first line, so that
// it may be moved.
type LogFile struct{ *source }

// RawLine is a line of a log as it stands, with its end, and where it begins.
type RawLine struct {
	Position int64
	Text     []byte
}

// LogFiles are the files of a log, oldest first. Those that have no whole line yet, or are not Belay's own, are left out.
func LogFiles(dir string) (list []*LogFile, err error) {
	d := &DB{dir: dir}
	sources, err := d.sources()
	for _, s := range sources {
		list = append(list, &LogFile{s})
	}
	return list, err
}

// Close closes the file.
func (f *LogFile) Close() error { return f.file.Close() }

// Identity is what the file is known by.
func (f *LogFile) Identity() string { return f.identity }

// Size is how long it was when it was opened.
func (f *LogFile) Size() int64 { return f.size }

// Live reports whether lines may still be appended to it.
func (f *LogFile) Live() bool { return f.live }

// Tail identifies what stands before a position.
func (f *LogFile) Tail(at int64) (string, error) { return f.tail(at) }

// Lines are the next whole lines, and the position behind them. The last one of a file that is no longer written to may be without an end. A line
// that is longer than any entry is passed over.
func (f *LogFile) Lines(from int64) (list []RawLine, to int64, err error) {
	text, p, err := f.text(from, f.left())
	at := from
	for line := range bytes.Lines(text) {
		list = append(list, RawLine{at, line})
		at += int64(len(line))
	}
	return list, p.to, err
}

// left reports whether no writer has the file open any more.
func (f *LogFile) left() bool {
	if f.live {
		return false
	}
	info, err := f.file.Stat()
	return err == nil && time.Since(info.ModTime()) >= minLogAge
}

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

// readShipped reads it, and says whether this machine is a member of a fleet.
func readShipped(dir string) (shipped map[string]int64, member bool) {
	path := shippedPath(dir)
	info, err := os.Lstat(path)
	if err != nil || time.Since(info.ModTime()) > memberFor {
		return nil, false
	}
	if data, err := safefile.ReadOwn(path, pieceSize); err == nil {
		json.Unmarshal(data, &shipped) // what cannot be read counts as not shipped
	}
	return shipped, true
}
