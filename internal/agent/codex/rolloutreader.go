package codex

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
)

// rolloutReader reads the record of a thread as it grows.
type rolloutReader struct {
	path    string
	from    int64 // how long it was before the attempt
	at      int64 // how much of it was read
	version string
	sum     rolloutSum
	told    int // how many of the calls were told as turns
}

// newRolloutReader returns what reads the part of a record that was written since the attempt's start, when it was so long.
func newRolloutReader(path string, since time.Time, from int64, usual func() string) *rolloutReader {
	// The record's times have no more than milliseconds.
	return &rolloutReader{path: path, from: from, at: -1, sum: rolloutSum{since: since.Truncate(time.Millisecond), usual: usual}}
}

// readRollout reads a record that does not grow any more.
func readRollout(path string, since time.Time, from int64) (rollout, error) {
	r := newRolloutReader(path, since, from, nil)
	err := r.read()
	return r.rollout(), err
}

// rollout is what was read so far.
func (r *rolloutReader) rollout() rollout {
	return rollout{version: r.version, model: r.sum.model, calls: r.sum.calls(), failure: r.sum.failure}
}

// read reads on to the last line that is whole. However much that is, only a line at a time is kept.
func (r *rolloutReader) read() error {
	info, err := os.Stat(r.path)
	if err != nil || r.at == info.Size() {
		return err
	}
	f, err := safefile.OpenRegular(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.at < 0 {
		head := make([]byte, maxRecord)
		n, _ := io.ReadFull(f, head)
		first, _, _ := bytes.Cut(head[:n], []byte("\n"))
		r.version = field(first, "cli_version")
		if info.Size() < r.from {
			r.from = 0 // it has been written anew
		}
		r.at = max(r.from-lookBack, 0)
	}
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return err
	}
	agent.WholeLines(f, maxRecord, func(line []byte, size int64) {
		r.sum.before = r.at < r.from
		r.at += size
		if bytes.Contains(line, []byte("_token")) || bytes.Contains(line, []byte("codex_error_info")) || bytes.Contains(line, []byte(`"turn_context"`)) {
			r.sum.take(line)
		}
	})
	return nil
}

// untold are the calls since the last time it was asked.
func (r *rolloutReader) untold() agent.ModelCalls {
	calls := r.sum.calls()
	calls = calls[min(r.told, len(calls)):]
	r.told += len(calls)
	return calls
}
