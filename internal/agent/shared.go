package agent

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// NewUUID is the name of a new session: a random UUID, version 4.
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Join puts the parts of a prompt together that are not empty; nil if there is none.
func Join(separator string, parts ...[]byte) []byte {
	parts = slices.DeleteFunc(parts, func(part []byte) bool { return len(part) == 0 })
	if len(parts) == 0 {
		return nil
	}
	return bytes.Join(parts, []byte(separator))
}

// Input is what comes on stdin beside the command line: the prompt, and what the caller's stdin held.
func (t *Turn) Input(separator string) []byte {
	if t.Prompt == nil {
		return t.Stdin
	}
	return Join(separator, []byte(*t.Prompt), t.Stdin)
}

// Untouched is the plan for a command line with an option that is not known: as it is, since a prompt on stdin needs no change to it.
func (t *Turn) Untouched(cli, option string, args []string, stdin []byte) (Plan, error) {
	if t.Session != "" || t.Continue {
		return Plan{}, fmt.Errorf("%s's option %s is not known to belay, which therefore cannot resume the session", cli, option)
	}
	return Plan{Args: slices.Clone(args), Stdin: stdin, Plain: true}, nil
}

// Evidence is what can be shown of what a CLI has said.
func Evidence(text string) string { return verdict.LastLines(text, 3, 500) }

// Lenient takes a field of another type than expected for one that is not there.
func Lenient(err error) error {
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}

// Number is a number of JSON; -1 if it is missing or something else.
func Number(raw json.RawMessage) float64 {
	if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return n
	}
	return -1
}

// Epoch is a time in seconds since 1970; zero if it can be none, as in milliseconds.
func Epoch(seconds float64) time.Time {
	if seconds > 0 && seconds < 1e11 {
		return time.Unix(int64(seconds), 0)
	}
	return time.Time{}
}

// maxSettings is how much of a settings file is read: what we look for is set by hand.
const maxSettings = 256 << 10

// ReadSettings is the content of a CLI's settings file; nil if it cannot be read. A mistake in it is for the CLI to report.
func ReadSettings(path string) []byte {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return nil
	}
	return data
}

// Glob are the files below a directory whose path from there matches the parts of a pattern.
func Glob(dir string, pattern ...string) []string {
	literal := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
	found, _ := filepath.Glob(filepath.Join(slices.Insert(pattern, 0, literal)...))
	return found
}

// WholeLines reads the whole lines of a record that a CLI may still be writing, each with its length; one that is longer than most is empty.
func WholeLines(r io.Reader, most int, each func(line []byte, size int64)) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	size := 0
	for {
		piece, err := lines.ReadSlice('\n')
		if size += len(piece); size <= most {
			line = append(line, piece...)
		} else {
			line = nil
		}
		switch {
		case err == nil:
			each(line, int64(size))
			line, size = line[:0], 0
		case !errors.Is(err, bufio.ErrBufferFull): // the rest of the last line is still to come
			return
		}
	}
}
