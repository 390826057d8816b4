// Package input gives each attempt of a command its standard input. What an attempt has read is gone, unless it was kept.
package input

import (
	"bytes"
	"io"
	"os"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine/output"
)

// Input gives each attempt its standard input. What an attempt has read is gone: another one can only follow if
// none was read, or if all of it was kept.
type Input interface {
	// Open returns the file for the next attempt; nil means nothing to read.
	Open() (*os.File, error)
	// Close ends the attempt's use of it, and reports whether another attempt could have the same input.
	Close() (again bool)
	// Release says that there is no further attempt: nothing more is read.
	Release()
}

// New chooses how the command gets its input. retries says that there may be more than one attempt.
func New(c *belaytype.Command, retries, replay bool) Input {
	switch stdin := c.Stdin.(type) {
	case nil:
		if c.Prompt == nil {
			return None{}
		}
		return newPromptInput(*c.Prompt)
	case *os.File:
		if c.Prompt != nil {
			return newPromptInput(*c.Prompt)
		}
		if !retries {
			return passed{stdin}
		}
		switch info, err := stdin.Stat(); {
		case err != nil, info.Mode()&os.ModeCharDevice != 0:
			return passed{stdin} // a terminal, or the null device: there may be more
		case info.Mode().IsRegular():
			if at, err := stdin.Seek(0, io.SeekCurrent); err == nil {
				return &rewound{file: stdin, from: at, replay: replay}
			}
		}
		return &Feed{Source: stdin, Replay: replay}
	default:
		return &Feed{Source: stdin, Replay: replay}
	}
}

// newPromptInput gives every attempt the prompt.
func newPromptInput(prompt string) Input {
	if len(prompt) <= pipeCapacity {
		return &poured{text: prompt}
	}
	return &Feed{Source: bytes.NewReader([]byte(prompt)), Replay: true}
}

type None struct{}

func (None) Open() (*os.File, error) { return nil, nil }
func (None) Close() bool             { return true }
func (None) Release()                {}

// passed hands the caller's own file over.
type passed struct{ file *os.File }

func (p passed) Open() (*os.File, error) { return p.file, nil }
func (p passed) Close() bool             { return true }
func (p passed) Release()                {}

// rewound hands a file over whose position tells what was read.
type rewound struct {
	file   *os.File
	from   int64
	replay bool
}

func (r *rewound) Open() (*os.File, error) {
	_, err := r.file.Seek(r.from, io.SeekStart)
	return r.file, err
}

func (r *rewound) Close() bool {
	at, err := r.file.Seek(0, io.SeekCurrent)
	return err == nil && (at == r.from || r.replay)
}

func (r *rewound) Release() {}

// poured is a short text that is in the pipe before the command starts. It takes no goroutine, which would cost a short command a tenth of its CPU.
type poured struct {
	text string
	pipe *os.File
}

func (p *poured) Open() (*os.File, error) {
	var err error
	p.pipe, err = filledPipe(p.text)
	return p.pipe, err
}

func (p *poured) Close() bool {
	p.pipe.Close()
	return true
}

func (p *poured) Release() {}

// maxUnread is more than any pipe holds: an attempt that got more has read some of it.
const maxUnread = 1 << 20

// Feed copies a stream to the attempts through a pipe. What an attempt has left in the pipe is not lost: it goes to
// the next one.
type Feed struct {
	Source io.Reader
	Replay bool

	chunks chan []byte   // from the source, which one read may keep waiting for longer than an attempt lasts
	given  output.Output // what the attempts have been given so far
	lost   bool          // given is no longer all of it

	released chan struct{} // there is no further attempt

	childEnd *os.File
	over     chan struct{} // the attempt has ended
	written  chan int64    // how much it was given
}

func (f *Feed) Open() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if f.chunks == nil {
		f.chunks, f.released = make(chan []byte), make(chan struct{})
		go f.read()
	}
	f.childEnd, f.over, f.written = r, make(chan struct{}), make(chan int64, 1)
	go f.copy(w, f.over, f.written)
	return r, nil
}

// read reads the source for all attempts.
func (f *Feed) read() {
	defer close(f.chunks)
	for {
		buf := make([]byte, 32<<10)
		n, err := f.Source.Read(buf)
		if n > 0 {
			select {
			case f.chunks <- buf[:n]:
			case <-f.released:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// copy gives one attempt what earlier ones were given, and then what comes.
func (f *Feed) copy(w *os.File, over <-chan struct{}, written chan<- int64) {
	defer w.Close()
	n, err := io.Copy(w, f.given.Reader())
	defer func() { written <- n }()
	for err == nil {
		select {
		case <-over:
			return
		case chunk, ok := <-f.chunks:
			if !ok {
				return
			}
			f.keep(chunk)
			var m int
			m, err = w.Write(chunk)
			n += int64(m)
		}
	}
}

func (f *Feed) keep(chunk []byte) {
	if f.lost {
		return
	}
	_, err := f.given.Write(chunk)
	if f.lost = err != nil || !f.Replay && f.given.Size() > maxUnread; f.lost {
		f.given.Close()
	}
}

func (f *Feed) Close() bool {
	unread := unreadBytes(f.childEnd)
	close(f.over)
	// The writer may be stuck in a full pipe; without a reader it is not.
	f.childEnd.Close()
	taken := <-f.written - unread
	return !f.lost && (f.Replay || taken <= 0)
}

// Release lets the goroutine end that reads the source, once the source gives it anything.
func (f *Feed) Release() {
	if f.released != nil {
		close(f.released)
	}
}
