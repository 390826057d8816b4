package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

const (
	// maxMemory is how much of the output stays in memory; more goes to a file, if there is room for one.
	maxMemory = 1 << 20
	// maxHeld is how much a decision can be. Clients cut text long before that.
	maxHeld = 64 << 20
)

var errTooMuch = errors.New("more than 64 MiB")

// held keeps what the command prints until it is known whether that is a decision.
type held struct {
	live io.Writer // where it goes then

	memory          bytes.Buffer
	file            *os.File
	noFile          bool // there is no room for one
	size            int64
	err             error // it cannot be held; the rest is thrown away, so that the command can go on
	announceChecked bool  // it was searched for the announcement below
	passing         bool  // it has told the client not to wait: what else it prints goes straight on
}

// Write implements [io.Writer]. It never fails, or the command would get SIGPIPE.
func (h *held) Write(p []byte) (int, error) {
	if h.passing {
		h.pass(p)
		return len(p), nil
	}
	if h.err == nil {
		h.err = h.hold(p)
	}
	if !h.announceChecked && bytes.IndexByte(p, '}') >= 0 {
		h.announceChecked = true
		if h.err == nil && h.file == nil && announcesAsync(h.memory.Bytes()) {
			h.passing = true
			h.pass(h.memory.Bytes())
		}
	}
	return len(p), nil
}

func (h *held) pass(p []byte) {
	if h.live != nil && h.err == nil {
		_, h.err = h.live.Write(p)
	}
}

func (h *held) hold(p []byte) error {
	if h.size += int64(len(p)); h.size > maxHeld {
		h.close()
		return errTooMuch
	}
	if h.file == nil && h.size > maxMemory && !h.noFile {
		h.toFile()
	}
	if h.file != nil {
		n, err := h.file.Write(p)
		if err == nil {
			return nil
		}
		if err := h.toMemory(h.size - int64(len(p)) + int64(n)); err != nil {
			return err
		}
		p = p[n:]
	}
	h.memory.Write(p)
	return nil
}

// toFile moves what is in memory to a file. If there is no room for one, it stays: it may be what keeps the client from doing something.
func (h *held) toFile() {
	f, err := os.CreateTemp("", "belay-hook-*")
	if err == nil {
		os.Remove(f.Name()) // where an open file cannot be removed, close does it
		if _, err = f.Write(h.memory.Bytes()); err == nil {
			h.file, h.memory = f, bytes.Buffer{}
			return
		}
		f.Close()
		os.Remove(f.Name())
	}
	h.noFile = true
}

// toMemory moves what is in the file, of that size, back to memory.
func (h *held) toMemory(size int64) error {
	f := h.file
	_, err := h.memory.ReadFrom(io.NewSectionReader(f, 0, size))
	h.file, h.noFile = nil, true
	f.Close()
	os.Remove(f.Name())
	return err
}

func (h *held) reader() io.Reader {
	if h.file != nil {
		return io.NewSectionReader(h.file, 0, h.size)
	}
	return bytes.NewReader(h.memory.Bytes())
}

// check reports whether it is a decision.
func (h *held) check() error {
	switch {
	case h.passing:
		return nil
	case h.file != nil:
		return checkStream(h.reader())
	}
	return checkDecision(h.memory.Bytes())
}

// isObject reports whether it is a whole JSON object.
func (h *held) isObject() bool {
	return h.file == nil && isObject(h.memory.Bytes()) && json.Valid(trimLeft(h.memory.Bytes()))
}

// deliver passes on what was held.
func (h *held) deliver() error {
	if h.passing || h.size == 0 || h.live == nil || h.err != nil {
		return h.err
	}
	_, err := io.Copy(h.live, h.reader())
	return err
}

func (h *held) close() {
	if h.file != nil {
		h.file.Close()
		os.Remove(h.file.Name())
		h.file = nil
	}
	h.memory = bytes.Buffer{}
}
