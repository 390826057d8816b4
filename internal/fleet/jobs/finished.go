package jobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// finished has the results that this machine has delivered, sealed as they were, by the digests of the payloads that they are of. A payload that comes again is not run again: its
// result is delivered again. That happens where a member puts back a row, and where PostgreSQL has lost what it had confirmed, as a copy does that takes over too early.
// Who wants a task to run again submits it again, which makes another payload.
//
// A machine cannot refuse a payload that it has begun and of which it has no result: after a kill that is how a job continues.
//
// A file or a directory for each result would cost more than all else that a worker writes. So they are lines of one file, in two directories: when the newer has enough,
// it takes the place of the older.
type finished struct {
	dir string

	mu           sync.Mutex
	newer, older generation
}

// generation is a directory with results, and with the texts that are too long for them.
type generation struct {
	dir   string
	lines map[string]line // by digest
	size  int64           // of all that is in it
	began time.Time
}

// line is where a result stands in the file.
type line struct {
	at     int64
	length int
}

// finishedResult is a line of the file.
type finishedResult struct {
	Payload string    `json:"payload"` // its digest
	At      time.Time `json:"at"`
	Result  []byte    `json:"result"`
	Text    string    `json:"text,omitempty"` // the name of the file that has it
}

// When the newer has enough.
const (
	finishedTime = 24 * time.Hour
	finishedMost = 1000
	finishedSize = 32 << 20
)

// digestName is the file in a folder with the digest of the payload, once there is a report.
const digestName = "payload"

func payloadDigest(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// open finds what an earlier process has left. Earlier versions had a folder for each result.
func (f *finished) open(dir string) {
	f.mu.Lock()
	f.dir, f.newer, f.older = dir, readGeneration(filepath.Join(dir, "newer")), readGeneration(filepath.Join(dir, "older"))
	f.mu.Unlock()
	names, _ := safefile.ReadOwnDir(dir)
	for _, name := range names {
		old := folder{filepath.Join(dir, name)}
		if data, err := safefile.ReadOwn(old.path(reportName), finishedSize); err == nil {
			f.add(old, name, data)
			old.remove()
		}
	}
}

// add takes over the result of a job whose report was accepted, with the text that is in its folder. What is too large is not kept.
func (f *finished) add(from folder, digest string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := finishedResult{Payload: digest, At: time.Now(), Result: data}
	size := int64(len(data))
	text := from.text()
	if text != nil {
		one.Text = filepath.Base(text.path)
		size += from.size(one.Text)
	}
	if size > finishedSize {
		return
	}
	if len(f.newer.lines) == 0 {
		f.newer.began = one.At
	}
	if n := f.newer; n.size+size > finishedSize || len(n.lines) >= finishedMost || one.At.Sub(n.began) > finishedTime {
		removeAll(f.older.dir)
		os.Rename(n.dir, f.older.dir)
		f.older, f.newer = generation{dir: f.older.dir, lines: n.lines}, generation{dir: n.dir, lines: map[string]line{}, began: one.At}
	}
	if safefile.MakeOwnDir(f.dir) != nil || safefile.MakeOwnDir(f.newer.dir) != nil {
		return
	}
	if text != nil && os.Rename(text.path, filepath.Join(f.newer.dir, one.Text)) != nil {
		return
	}
	if f.newer.add(one) == nil {
		f.newer.size += size
	}
}

// find returns what was reported of a payload; nil if that is not known.
func (f *finished) find(digest string) *report {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range []generation{f.newer, f.older} {
		if at, ok := g.lines[digest]; ok {
			return g.read(at)
		}
	}
	return nil
}

func (g *generation) path() string { return filepath.Join(g.dir, "results.jsonl") }

// readGeneration finds what is in a directory. A line that a killed process has not finished is cut off.
func readGeneration(dir string) generation {
	g := generation{dir: dir, lines: map[string]line{}}
	data, _ := safefile.ReadOwn(g.path(), 4*finishedSize)
	whole := int64(0)
	for text := range bytes.Lines(data) {
		var one finishedResult
		if json.Unmarshal(text, &one) == nil && bytes.HasSuffix(text, []byte("\n")) {
			g.lines[one.Payload] = line{whole, len(text)}
			if g.size += int64(len(one.Result)); one.Text != "" {
				g.size += folder{dir}.size(one.Text)
			}
			if g.began.IsZero() {
				g.began = one.At
			}
			whole += int64(len(text))
			continue
		}
		os.Truncate(g.path(), whole)
		break
	}
	return g
}

func (g *generation) add(one finishedResult) error {
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	file, err := safefile.OpenOwn(g.path(), os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, err := file.Write(append(text, '\n')); err != nil {
		return errors.Join(err, file.Truncate(info.Size()))
	}
	g.lines[one.Payload] = line{info.Size(), len(text) + 1}
	return nil
}

func (g *generation) read(at line) *report {
	file, err := safefile.OpenOwn(g.path(), os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer file.Close()
	data := make([]byte, at.length)
	var one finishedResult
	if _, err := file.ReadAt(data, at.at); err != nil || json.Unmarshal(data, &one) != nil {
		return nil
	}
	r := &report{result: one.Result}
	if mark, ok := strings.CutPrefix(one.Text, textPrefix); ok && mark == filepath.Base(mark) {
		r.text = &textFile{path: filepath.Join(g.dir, one.Text), mark: mark}
	}
	return r
}
