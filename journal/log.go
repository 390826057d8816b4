package journal

import (
	"bytes"
	"encoding/json"
	"os"
)

const (
	// maxLine is what the kernel appends in one piece whatever happens; longer lines were torn by kill -9.
	maxLine = 4095
	// warnSize is where the log is worth a word.
	warnSize = 100 << 20
)

// Log is the file that entries are appended to. It is opened for each of them: a process has few to write, and
// somebody may have moved the file away.
type Log struct {
	Path string
	// NoFollow refuses a file that is a symbolic link: where others may write too, it might lead anywhere.
	NoFollow bool
	// OnLarge is called by the one process, of all that write, whose line makes the file pass 100 MiB.
	OnLarge func(path string)
}

// Append writes one entry.
func (l *Log) Append(e Entry) error {
	line := encode(e)
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if l.NoFollow {
		flags |= noFollow
	}
	f, err := os.OpenFile(l.Path, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if l.OnLarge != nil && err == nil {
		if info, serr := f.Stat(); serr == nil && info.Size() >= warnSize && info.Size()-int64(len(line)) < warnSize {
			l.OnLarge(l.Path)
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// encode makes the line, redacted and bounded.
func encode(e Entry) []byte {
	if e.Error != "" {
		e.Error = Redact(e.Error)
	}
	e.Usage, e.Detail = compact(e.Usage), redactJSON(e.Detail)
	for {
		if line := e.line(); len(line) <= maxLine {
			return line
		}
		// Text goes first, then what a CLI has reported; the rest is short.
		switch {
		case len(e.Error) > 64:
			e.Error = cut(e.Error, len(e.Error)/2)
		case len(e.Detail) > 0:
			e.Detail = shorten(e.Detail)
		case len(e.Usage) > 0:
			e.Usage = nil
		default:
			e.Error, e.Rule, e.Session, e.Gate = "", cut(e.Rule, 64), cut(e.Session, 64), cut(e.Gate, 64)
			e.Command, e.Profile, e.Model, e.Event = cut(e.Command, 64), cut(e.Profile, 64), cut(e.Model, 64), cut(e.Event, 64)
		}
	}
}

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

// cut shortens s to at most n bytes of whole characters, and says so.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
