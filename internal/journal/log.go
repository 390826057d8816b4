package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
)

const (
	// maxLine is what the kernel appends in one piece whatever happens; longer lines were torn by kill -9.
	maxLine = 4095
	// warnSize is the size from which users are told of the log.
	warnSize = 100 << 20
)

// Log is the file that entries are appended to. It is opened for each of them: a process has few to write, and
// the file may have been moved away in between.
type Log struct {
	Path string
	// Elsewhere says that it is not in the state directory, but in one that may be another user's.
	Elsewhere bool
	// Nulls says that prompt_hash, error_type and wait_time are in every line, as null where there is none: scripts that seed 000 has in mind
	// read them without asking.
	Nulls bool
	// Secrets are known of the run that is put on record, and taken out of every text; nil means those of this process.
	Secrets *redact.Known
	// OnLarge is called by the one process, of all that write, whose line makes the file pass 100 MiB.
	OnLarge func(path string)
}

// Append writes one entry.
func (l *Log) Append(e Entry) error {
	line := encode(e, l.Secrets, l.Nulls)
	open := safefile.OpenOwn
	if l.Elsewhere {
		open = safefile.OpenOwnElsewhere
	}
	f, err := open(l.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if l.OnLarge != nil && err == nil {
		if info, serr := f.Stat(); serr == nil && info.Size() >= warnSize && info.Size()-int64(len(line)) < warnSize {
			l.OnLarge(l.Path)
		}
	}
	return errors.Join(err, f.Close())
}

// encode makes the line, redacted and bounded. All that is put on record goes through it.
func encode(e Entry, secrets *redact.Known, nulls bool) []byte {
	e.redact(secrets)
	e.Usage = compact(e.Usage)
	for longest := 64; ; {
		if line := e.line(nulls); len(line) <= maxLine {
			return line
		}
		// Tools go first, then text, then what a CLI has reported; the rest is short as a rule.
		switch {
		case e.fewerTools():
		case len(e.Error) > 64:
			e.Error = cut(e.Error, len(e.Error)/2)
		case len(e.Detail) > 0:
			e.Detail = shorten(e.Detail)
		case len(e.Usage) > 0:
			e.Usage = nil
		default:
			e.shorten(longest)
			longest /= 2
		}
	}
}

// fewerTools halves the lists of tools: the single calls first, then the tools themselves. It is false if nothing is left
// of them.
func (e *Entry) fewerTools() bool {
	switch n := len(e.Tools); {
	case len(e.ToolCalls) > 0:
		keep := len(e.ToolCalls) / 2
		e.ToolsCut += len(e.ToolCalls) - keep
		e.ToolCalls = e.ToolCalls[:keep]
	case n > 1 || n == 1 && e.Tools[0].Name != otherTools:
		keep := (n - 1) / 2
		rest := Tool{Name: otherTools}
		for _, t := range e.Tools[keep:] {
			rest.Count += t.Count
			rest.Time = microseconds(rest.Time + t.Time)
		}
		e.Tools = append(slices.Clone(e.Tools[:keep]), rest)
	default:
		e.Tools = nil
		return n > 0
	}
	return true
}

// otherTools is the name of those that are not told apart.
const otherTools = "…"

// compact makes one line of a piece of JSON; nil if it is none, since it would spoil the entry.
func compact(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	var one bytes.Buffer
	if json.Compact(&one, data) != nil {
		return nil
	}
	return one.Bytes()
}

// shorten halves every long text; nil if there is none that could be.
func shorten(data json.RawMessage) json.RawMessage {
	changed := false
	short := eachText(data, func(s string) string {
		if len(s) <= 64 {
			return s
		}
		changed = true
		return cut(s, len(s)/2)
	})
	if !changed {
		return nil
	}
	return short
}

// cut shortens s to at most n bytes of whole characters, and says so.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return printable.Prefix(s, n) + "…"
}
