//go:build linux || darwin

package term

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// escapeTimeout is how long the rest of a sequence may take to follow its ESC, on a slow line too.
	escapeTimeout = 50 * time.Millisecond
	// backgroundPoll is how often the reader of keys looks whether it has the terminal again.
	backgroundPoll = 200 * time.Millisecond
	// stopTimeout is how long we wait to be stopped after Ctrl-Z. Where no shell could continue us, the system does not stop us.
	stopTimeout = time.Second
)

// Fullscreen is a terminal that is drawn on as a whole, with a keyboard. While it is open the terminal shows its other screen, and
// [Fullscreen.Close] brings back what was there. Ctrl-Z and fg work as with any other program; in the background nothing is drawn.
type Fullscreen struct {
	in, out *os.File
	events  chan Event
	signals chan os.Signal
	done    chan struct{}
	wake    *os.File // the end of a pipe; it wakes the reader of keys
	running sync.WaitGroup

	mu     sync.Mutex
	paint  painter
	before *unix.Termios // the modes that we have found
	active bool          // the other screen is shown
	stale  bool          // another program may have used the terminal since
	closed bool
}

// OpenFullscreen takes over a terminal: the signals that end or stop a process are caught too, and told as events. It returns
// [ErrNoFullscreen] where that cannot be.
func OpenFullscreen(in io.Reader, out io.Writer) (*Fullscreen, error) {
	keys, screen, ok := capable(in, out)
	if !ok || !inForeground(keys) {
		return nil, ErrNoFullscreen
	}
	s := &Fullscreen{in: keys, out: screen, events: make(chan Event), signals: make(chan os.Signal, 16), done: make(chan struct{}),
		paint: painter{color: colored(true)}}
	var err error
	if s.before, err = unix.IoctlGetTermios(int(keys.Fd()), getTermios); err != nil {
		return nil, ErrNoFullscreen
	}
	woken, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.wake = wake
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGCONT, syscall.SIGWINCH} {
		if !signal.Ignored(sig) { // as under nohup
			signal.Notify(s.signals, sig)
		}
	}
	s.mu.Lock()
	err = s.enter()
	s.mu.Unlock()
	if err != nil {
		signal.Stop(s.signals)
		wake.Close()
		woken.Close()
		return nil, err
	}
	s.start(s.watchSignals)
	s.start(func() {
		defer woken.Close()
		s.readKeys(woken)
	})
	return s, nil
}

// Events are what happens on the screen.
func (s *Fullscreen) Events() <-chan Event { return s.events }

// Size is how many columns and lines the terminal has.
func (s *Fullscreen) Size() (columns, lines int) {
	size, err := unix.IoctlGetWinsize(int(s.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// Draw shows rows, in one write. In the background it does nothing.
func (s *Fullscreen) Draw(rows []Row) error {
	_, height := s.Size()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if !inForeground(s.in) {
		s.stale = true
		return nil
	}
	if err := s.enter(); err != nil {
		return err
	}
	data := s.paint.paint(rows, height)
	if len(data) == 0 {
		return nil
	}
	_, err := s.out.Write(data)
	return err
}

// Close brings back the terminal as it was. It may be called more than once.
func (s *Fullscreen) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.leave()
	s.closed = true
	s.mu.Unlock()
	close(s.done)
	signal.Stop(s.signals)
	s.wake.Close()
	s.running.Wait()
}

// start runs a goroutine. Should it panic, the one that draws is told: it can bring the terminal back.
func (s *Fullscreen) start(do func()) {
	s.running.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				s.tell(Event{Panic: fmt.Sprintf("%v, at the terminal: %s", r, debug.Stack())})
			}
		}()
		do()
	})
}

// tell sends an event; it is false if the screen is closed.
func (s *Fullscreen) tell(e Event) bool {
	select {
	case s.events <- e:
		return true
	case <-s.done:
		return false
	}
}

// enter shows the other screen and reads keys as they come, if that is not so yet. The lock is held.
func (s *Fullscreen) enter() error {
	if s.active && !s.stale {
		return nil
	}
	modes := *s.before
	modes.Lflag &^= unix.ICANON | unix.ECHO | unix.IEXTEN
	modes.Cc[unix.VMIN], modes.Cc[unix.VTIME] = 1, 0
	for _, key := range stopKeys {
		modes.Cc[key] = noKey
	}
	if err := unix.IoctlSetTermios(int(s.in.Fd()), setTermios, &modes); err != nil {
		return err
	}
	s.active, s.stale = true, false
	s.paint.forget()
	_, err := s.out.WriteString(enterScreen)
	return err
}

// leave shows what was there before. Where another job has the terminal by now, its modes are left alone. The lock is held.
func (s *Fullscreen) leave() {
	if !s.active {
		return
	}
	s.active = false
	inFront := inForeground(s.in)
	if now, err := unix.IoctlGetTermios(int(s.in.Fd()), getTermios); err == nil && !inFront && now.Lflag&unix.TOSTOP != 0 {
		return // to write would stop us
	}
	s.out.WriteString(leaveScreen)
	if inFront {
		unix.IoctlSetTermios(int(s.in.Fd()), setTermios, s.before)
	}
}

func (s *Fullscreen) watchSignals() {
	for {
		select {
		case <-s.done:
			return
		case got := <-s.signals:
			ok := true
			switch sig := got.(syscall.Signal); sig {
			case syscall.SIGCONT, syscall.SIGWINCH:
				s.mu.Lock()
				if sig == syscall.SIGCONT {
					s.stale = true
				}
				s.paint.forget()
				s.mu.Unlock()
				ok = s.tell(Event{Redraw: true})
			default:
				ok = s.tell(Event{Signal: sig})
			}
			if !ok {
				return
			}
		}
	}
}

// stop stops our process group as Ctrl-Z does, with the terminal as it was, and returns when we go on. Ctrl-Z is read as a key for that: a
// SIGTSTP that a Go program has caught once never stops it again.
func (s *Fullscreen) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave()
	goOn := make(chan os.Signal, 1)
	signal.Notify(goOn, syscall.SIGCONT)
	defer signal.Stop(goOn)
	syscall.Kill(0, syscall.SIGTSTP)
	select { // we are stopped about here
	case <-goOn:
	case <-time.After(stopTimeout):
	case <-s.done:
	}
}

// readKeys reads the keyboard until the screen is closed.
func (s *Fullscreen) readKeys(woken *os.File) {
	var board keyboard
	buf := make([]byte, 256)
	for {
		timeout := time.Duration(-1)
		if len(board.pending) > 0 {
			timeout = escapeTimeout
		}
		ready, closed, err := wait(s.in, woken, timeout)
		var keys []Key
		switch {
		case closed:
			return
		case err != nil:
			s.tell(Event{Err: err})
			return
		case !ready:
			keys = board.flush()
		case !inForeground(s.in): // to read would stop us
			select {
			case <-s.done:
				return
			case <-time.After(backgroundPoll):
			}
		default:
			n, err := unix.Read(int(s.in.Fd()), buf)
			if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) {
				continue
			}
			if n <= 0 || err != nil {
				s.tell(Event{Err: errors.Join(io.EOF, err)})
				return
			}
			keys = board.feed(buf[:n])
		}
		for _, key := range keys {
			e := Event{Key: key}
			if key == keyCtrlZ {
				s.stop()
				e = Event{Redraw: true}
			}
			if !s.tell(e) {
				return
			}
		}
	}
}

// wait waits until there is something to read, or woken was closed. It does not poll(2), which macOS has not got for terminals.
func wait(in, woken *os.File, timeout time.Duration) (ready, closed bool, err error) {
	for {
		var set unix.FdSet
		set.Set(int(in.Fd()))
		set.Set(int(woken.Fd()))
		var limit *unix.Timeval
		if timeout >= 0 {
			t := unix.NsecToTimeval(int64(timeout))
			limit = &t
		}
		_, err := unix.Select(max(int(in.Fd()), int(woken.Fd()))+1, &set, nil, nil, limit)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		runtime.KeepAlive(woken)
		if err != nil {
			return false, false, err
		}
		return set.IsSet(int(in.Fd())), set.IsSet(int(woken.Fd())), nil
	}
}

// inForeground reports whether our process group has the terminal.
func inForeground(tty *os.File) bool {
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
