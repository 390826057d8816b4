package batch

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/batch/tasks"
	"github.com/belay-run/belay/internal/safefile"
)

// tempPrefix is how the names of files begin that are not whole yet. No id leads to a name that begins so.
const tempPrefix = ".belay-"

// outputPath is the file for the output of a task. What cannot be in the name of a file is written as %2F, and a name that would be too long
// ends with a hash of the id.
func outputPath(dir, id string) string {
	var name strings.Builder
	for i, c := range []byte(id) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0 || c >= 0x80 && utf8.ValidString(id)
		if plain {
			name.WriteByte(c)
			continue
		}
		fmt.Fprintf(&name, "%%%02X", c)
	}
	const longest = 200 // a system takes 255 bytes
	if name.Len() > longest {
		h := fnv.New64a()
		io.WriteString(h, id)
		return filepath.Join(dir, fmt.Sprintf("%s-%016x", strings.ToValidUTF8(name.String()[:longest-17], ""), h.Sum64()))
	}
	return filepath.Join(dir, name.String())
}

// SaveOutput writes the output of the task to a file of its own in a directory, as a whole. Each call of output reads it from its beginning. A file
// that is there already is replaced only if it is what this batch has written there for the task before.
func (j *Job) SaveOutput(dir string, o *Outcome, output func() io.Reader) error {
	sum, err := sumOf(output())
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which has another name by then, unless something fails
	l := j.batch.Ledger
	l.note(note{Output: sum.String(), Temp: filepath.Base(f.Name())}.about(j.Task.ID))
	_, err = io.Copy(f, output())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	path := outputPath(dir, j.Task.ID)
	if err := giveName(f.Name(), path, func() bool { return l != nil && l.wrote(j.Task.ID, path, sum) }); err != nil {
		return err
	}
	o.OutputFile, o.outputSum = path, sum
	return nil
}

// giveName gives a file its name. What has that name already is replaced only if it may be.
func giveName(temp, path string, mayReplace func() bool) error {
	err := os.Link(temp, path) // which replaces nothing
	if err == nil {
		return nil
	}
	switch _, lerr := os.Lstat(path); {
	case errors.Is(lerr, os.ErrNotExist): // a file system without links
	case lerr != nil:
		return lerr
	case !mayReplace():
		return fmt.Errorf("%s was not written by this batch, so it was not replaced", path)
	}
	return os.Rename(temp, path)
}

// sumOf is the fingerprint of an output; never 0.
func sumOf(r io.Reader) (Hash, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return Hash(max(1, binary.BigEndian.Uint64(h.Sum(nil)))), err
}

// wrote reports whether the file at a path is what this batch has written there for a task: what it is about to write, what it was writing when it
// was killed, or what the results say.
func (l *Ledger) wrote(id, path string, now Hash) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum, err := sumOf(f)
	if err != nil {
		return false
	}
	was, ok := l.outputOf(id, filepath.Base(path))
	return sum == now || sum == l.underWay[id].output || ok && (was == 0 || sum == was)
}

// outputOf is the fingerprint of the output of a task as the results have it; 0 if a version that kept none has written it.
func (l *Ledger) outputOf(id, name string) (Hash, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outputs == nil {
		l.outputs = map[[2]string]Hash{}
		scan(l.file, func(_ int64, line []byte, r parsed) {
			var record Record
			if bytes.Contains(line, []byte(`,"output_file":"`)) && json.Unmarshal(line, &record) == nil {
				l.outputs[[2]string{r.task, filepath.Base(record.OutputFile)}], _ = tasks.ParseHash(record.OutputSum)
			}
		})
	}
	was, ok := l.outputs[[2]string{id, name}]
	return was, ok
}

// RemoveTemporary removes the files of outputs that the batch before was writing when it was killed. Their names are random, and in the journal.
func (l *Ledger) RemoveTemporary(dir string) {
	for _, was := range l.underWay {
		if strings.HasPrefix(was.temp, tempPrefix) && filepath.Base(was.temp) == was.temp {
			os.Remove(filepath.Join(dir, was.temp))
		}
	}
}
