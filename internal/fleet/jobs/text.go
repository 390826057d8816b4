package jobs

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// The text of a result may be larger than memory, and than what a row of PostgreSQL should have. One that is longer than textPart goes to the worker's disk as it
// comes, encrypted in parts as they will be in PostgreSQL; these are sent one by one before the result, which says how many there are, and fetched one by one.

const (
	// textPart is how much of a text is in a part. A text that fits into one is part of the result.
	textPart = 1 << 20
	// textPrefix begins the name of the file with the parts of a text. It ends with their mark.
	textPrefix = "text-"
	// rowMost is how large a result may be for a submitter that does not take parts: PostgreSQL takes 1 GiB for a row, with some copies of it in memory.
	rowMost = 256 << 20
)

// resultWriter takes what belay run prints: its result, as one object of JSON.
type resultWriter struct {
	create func() (*os.File, error)
	seal   func(part []byte, n int) ([]byte, error)

	before, text, after []byte // text is what is not in a part yet
	size                int64  // of the text
	within, ended       bool   // the text has begun, and has ended
	escaped             bool   // the last byte of the text was a backslash that stands for itself
	file                *os.File
	parts               int
	err                 error // why the text is not on disk
}

// textKey comes before the text. Within a string its quotes would be escaped, and before the text there are only numbers and the id of the run.
var textKey = []byte(`"result":"`)

// Write implements [io.Writer].
func (r *resultWriter) Write(p []byte) (int, error) {
	n := len(p)
	if !r.within {
		from := max(0, len(r.before)-len(textKey))
		r.before, p = append(r.before, p...), nil
		if at := bytes.Index(r.before[from:], textKey); at >= 0 {
			at += from + len(textKey)
			r.within, p, r.before = true, bytes.Clone(r.before[at:]), r.before[:at-1:at-1]
			r.add([]byte{'"'})
		}
	}
	if r.within && !r.ended {
		end := r.quote(p)
		r.add(p[:end])
		p = p[end:]
	}
	if r.ended {
		r.after = append(r.after, p...)
	}
	return n, nil
}

// quote is the place after the quote that ends the text; the length of p if that is not in it.
func (r *resultWriter) quote(p []byte) int {
	for i := 0; i < len(p); i++ {
		switch {
		case r.escaped:
			r.escaped = false
		case p[i] == '\\':
			r.escaped = true
		case p[i] == '"':
			r.ended = true
			return i + 1
		}
	}
	return len(p)
}

func (r *resultWriter) add(p []byte) {
	r.size += int64(len(p))
	for r.text = append(r.text, p...); len(r.text) > textPart; {
		r.put(r.text[:textPart])
		r.text = append(r.text[:0], r.text[textPart:]...)
	}
}

// put writes a part to disk, with its length before it.
func (r *resultWriter) put(part []byte) {
	if r.file == nil && r.err == nil {
		r.file, r.err = r.create()
	}
	if r.err != nil {
		return
	}
	sealed, err := r.seal(part, r.parts)
	if err == nil {
		_, err = r.file.Write(binary.BigEndian.AppendUint32(nil, uint32(len(sealed))))
	}
	if err == nil {
		_, err = r.file.Write(sealed)
	}
	r.parts++
	r.err = err
}

// close ends the text, and returns why it cannot be kept.
func (r *resultWriter) close() error {
	if r.parts > 0 && len(r.text) > 0 {
		r.put(r.text)
		r.text = nil
	}
	if r.file != nil {
		r.err = errors.Join(r.err, r.file.Close())
		r.file = nil
	}
	return r.err
}

// head is the result without its text.
func (r *resultWriter) head() []byte {
	return (&fleetpipe.Outcome{Text: &fleetpipe.Text{Before: r.before, After: r.after}}).Head()
}

// textFile is the text of a result, as it is on disk.
type textFile struct {
	path string
	mark string
	file *os.File // nil before the first part is read
	next []byte   // the part that is sent next
	n    int      // its number
	over bool
}

// text is the text that is in a folder; nil if there is none.
func (f folder) text() *textFile {
	names, _ := safefile.ReadOwnDir(f.dir)
	for _, name := range names {
		if mark, ok := strings.CutPrefix(name, textPrefix); ok {
			return &textFile{path: f.path(name), mark: mark}
		}
	}
	return nil
}

// read reads the next part, unless it was read already.
func (t *textFile) read() (err error) {
	if t.next != nil || t.over {
		return nil
	}
	if t.file == nil {
		if t.file, err = safefile.OpenOwn(t.path, os.O_RDONLY); err != nil {
			return err
		}
	}
	var size [4]byte
	if _, err = io.ReadFull(t.file, size[:]); err == nil {
		t.next = make([]byte, min(binary.BigEndian.Uint32(size[:]), textPart+1<<10))
		_, err = io.ReadFull(t.file, t.next)
	}
	if err != nil {
		t.close()
	}
	return err
}

func (t *textFile) close() {
	t.over, t.next = true, nil
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// sendPart sends the next part of a text, and renews the lease: a worker that has just started has not taken up the job. Once there are no more parts, or the job is gone, the
// text is over.
func (c *batcher) sendPart(ctx context.Context, r *report) error {
	t := r.text
	if t.read() != nil {
		return nil // the end, or what is missing is noticed by the submitter
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime(textPart))
	defer cancel()
	_, err := c.store.Pool.Exec(ctx, `
with kept as (
	update belay.job set lease = now() + $5 where id = $1 and attempt = $6 and state = 'running' and machine = $7
)
insert into belay.result_part (job, mark, n, data) values ($1, $2, $3, $4) on conflict do nothing`, r.job, t.mark, t.n, t.next, paced(leaseTime), r.attempt, c.machine)
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == "23503" { // foreign_key_violation: the job is gone
		t.close()
		return nil
	}
	if err == nil {
		t.n, t.next = t.n+1, nil
	}
	return err
}

// join makes a result one that is not in parts, of at most so many bytes, for a submitter that does not take them.
func (w *Worker) join(a *attempt, f folder, o *fleetpipe.Outcome, most int) error {
	text := o.Text
	o.Text = nil
	file := f.text()
	if file == nil {
		return os.ErrNotExist
	}
	defer os.Remove(file.path)
	defer file.close()
	whole := bytes.Clone(text.Before)
	for n := range text.Parts {
		err := file.read()
		var part []byte
		if err == nil {
			part, err = a.key.open(file.next, a.batch, a.task, a.hash, file.mark, strconv.Itoa(n))
		}
		if err == nil && len(whole)+len(part) > most {
			err = message.Error("the belay that has submitted the task takes at most 256 MiB. Upgrade it")
		}
		if err != nil {
			o.Paid = summaryOf(&fleetpipe.Outcome{Text: text}).Usage.Cost
			return message.Error(message.FleetResultTooLarge(text.Parts*textPart>>20, err), err)
		}
		whole, file.next = append(whole, part...), nil
	}
	o.Result = append(whole, text.After...)
	return nil
}
