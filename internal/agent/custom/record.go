package custom

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/safefile"
)

// What a CLI writes of a session may tell what it does not print: why the model has stopped, and what it has used.

const (
	// maxRecorded is more than one attempt adds to a record; what is longer is not read.
	maxRecorded = 64 << 20
	maxRecord   = 16 << 20 // of one line
)

// recordOf is the CLI's record of a session, open, and how long it is; nil if there is none. An id has no separators in it.
func (p *Profile) recordOf(session string) (f *os.File, size int64) {
	if p.def.Record == "" || p.home == "" || !p.def.isSession(session) {
		return nil, 0
	}
	found, _ := fs.Glob(os.DirFS(p.home), withSession([]string{p.def.Record}, session)[0])
	if len(found) != 1 {
		return nil, 0
	}
	f, err := safefile.OpenRegular(filepath.Join(p.home, found[0]))
	if err != nil {
		return nil, 0
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0
	}
	return f, info.Size()
}

// findRecord notes from where the record will be read: a session that is resumed has one already. Where the CLI chooses the session that goes on, what is
// new in its record is not known.
func (f *follower) findRecord() {
	f.recorded = f.profile.def.Record != "" && (f.ResumeID != "" || !f.profile.choosesSession())
	if file, size := f.profile.recordOf(f.ResumeID); file != nil {
		f.recordFrom = size
		file.Close()
	}
}

// readRecord takes what the record says of the attempt. The last word of it on how the model has stopped counts if nothing that was printed says that the
// run has failed, and usage if none was printed.
func (f *follower) readRecord() {
	if !f.recorded {
		return
	}
	f.recorded = false
	file, size := f.profile.recordOf(f.Session)
	if file == nil {
		return
	}
	defer file.Close()
	if _, err := file.Seek(f.recordFrom, 0); err != nil || size-f.recordFrom > maxRecorded {
		return
	}
	printed, counts := f.failure, f.total == nil && f.turns == 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxRecord)
	for lines.Scan() {
		r, ok := readLine(f.table.record, lines.Bytes())
		if !ok || !r.known {
			continue
		}
		if r.Kind == Error || r.Kind == Result {
			f.failure, f.ended = nil, true
		}
		if r.Kind == Error {
			f.fail(&r)
		}
		if usage, told := r.usage(); told && counts {
			f.calls = f.calls.Add(usage)
			f.turns++
		}
	}
	if printed != nil || lines.Err() != nil {
		f.failure = printed
	}
}
