// Package stream carries what a command writes to those who want it.
//
// [Open] decides for each of the three streams whether the command gets a file of the caller's, the null device, or a pipe. What comes through a pipe
// is a sign of [Life], as is a writer that has not taken it yet. Pipes are read by a goroutine each ([Set.Start]), or on Linux, where the writers only keep what they are
// given, by the thread that waits for the command ([Set.ReadUntilEnd]): that saves a fifth of what it takes to start a short command.
//
// When the command has ended, [Set.Drain] takes over what it had written by then. A pipe that another process still holds open is read until it has been silent for a
// moment, a second at most, and then closed: what that process writes later is lost to it, as it would be if the command's caller had gone.
package stream

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"
)

// Wanted says what the three streams of a command are to be.
type Wanted struct {
	// Stdin is handed over as it is; nil means the null device.
	Stdin *os.File
	// Stdout and Stderr: an *os.File is handed over as it is, unless Watched is set; any other writer is fed through a pipe, one pipe if both are the same; nil
	// means the null device.
	Stdout, Stderr io.Writer
	// Watched says that all output must pass through us, as a sign of life.
	Watched bool
	// InMemory says that both writers only keep what they are given, and never wait for anything.
	InMemory bool
	// StdoutEnd, if not nil, is called when a Stdout that is fed through a pipe has come to its end.
	StdoutEnd func()
}

// Set are the three streams of a command: what it gets, and what we keep.
type Set struct {
	// Child is what the command gets.
	Child  [3]*os.File
	opened []*os.File // those of Child that we opened and close once it has them
	pumps  []*pump
	run    sync.WaitGroup
}

// nullDevice is shared by all commands that get it.
var nullDevice struct {
	mu   sync.Mutex
	file *os.File
}

func null() (file *os.File, err error) {
	nullDevice.mu.Lock()
	defer nullDevice.mu.Unlock()
	if nullDevice.file == nil {
		nullDevice.file, err = os.OpenFile(os.DevNull, os.O_RDWR, 0)
	}
	return nullDevice.file, err
}

// Open opens the streams. What is read is a sign of life.
func (s *Set) Open(want Wanted, life *Life) error {
	fail := func(err error) error {
		s.CloseChildSide()
		s.Close()
		return err
	}
	var err error
	if s.Child[0] = want.Stdin; s.Child[0] == nil {
		if s.Child[0], err = null(); err != nil {
			return fail(err)
		}
	}
	for i, w := range [2]io.Writer{want.Stdout, want.Stderr} {
		file, isFile := w.(*os.File)
		if isFile && file == nil {
			w, isFile = nil, false
		}
		switch {
		case isFile && !want.Watched:
			s.Child[i+1] = file
			continue
		case w == nil && !want.Watched:
			if s.Child[i+1], err = null(); err != nil {
				return fail(err)
			}
			continue
		case w == nil:
			w = io.Discard // the caller does not want it, but it is a sign of life
		}
		if i == 1 && len(s.pumps) == 1 && same(w, want.Stdout) {
			s.Child[2] = s.Child[1] // one pipe keeps the order of what is written to both
			continue
		}
		u := &pump{to: w, life: life, done: make(chan struct{})}
		var c *os.File
		if u.inline = want.InMemory && want.StdoutEnd == nil; u.inline {
			u.fd, c, err = openInline()
			u.inline = !errors.Is(err, errors.ErrUnsupported)
		}
		if !u.inline {
			u.from, c, err = openPipe()
		}
		if err != nil {
			return fail(err)
		}
		s.Child[i+1] = c
		s.opened = append(s.opened, c)
		if i == 0 {
			u.end = want.StdoutEnd
		}
		s.pumps = append(s.pumps, u)
	}
	return nil
}

// same reports whether two writers are one.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // some types cannot be compared; those are not the same
	return a == b
}

// CloseChildSide closes what only the command needs, once it has it.
func (s *Set) CloseChildSide() {
	for _, file := range s.opened {
		file.Close()
	}
	s.opened = nil
}

// Close closes what we keep, of a command that could not be started.
func (s *Set) Close() {
	for _, pump := range s.pumps {
		pump.close()
	}
}

// Inline reports whether the thread that waits for the command reads a pipe, by [Set.ReadUntilEnd].
func (s *Set) Inline() bool {
	return slices.ContainsFunc(s.pumps, func(u *pump) bool { return u.inline })
}

// ReadUntilEnd reads on the calling thread, until the command has ended, which its pidfd tells, or all of its streams have. What is left then is for [Set.Drain].
// It closes the pidfd.
func (s *Set) ReadUntilEnd(pidfd int) {
	defer closeInline(pidfd)
	if !readUntilEnd(pidfd, s.pumps) {
		s.Start()
	}
}

// Start lets goroutines read the pipes that none reads yet.
func (s *Set) Start() {
	for _, pump := range s.pumps {
		if pump.open(); pump.from != nil && !pump.started {
			pump.started = true
			s.run.Go(pump.run)
		}
	}
}

// Drain takes over what the command has written before it ended, and then lets go of pipes that others hold open. It
// reports whether there were any.
func (s *Set) Drain() (held bool) {
	for _, pump := range s.pumps {
		pump.drainInline()
	}
	s.Start()
	for _, pump := range s.pumps {
		if pump.started {
			pump.finish()
		}
	}
	s.run.Wait()
	for _, pump := range s.pumps {
		held = held || pump.held
	}
	return held
}
