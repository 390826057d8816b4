// Package hook runs the hook command of an agent CLI so that it can never take the agent down.
//
// A [Hook] is one call. Its command gets stdin and the environment as they are, and what it decides on purpose reaches
// the client unchanged: exit code 2 with its stderr, or exit code 0 with a JSON object or plain text on stdout, byte for
// byte. Whatever is no decision (a crash, a missing command, broken JSON, a hang) is put on record and does not block:
// exit code 0, and nothing on stdout. With FailClosed it does block: exit code 2, and the reason on stderr.
//
// Nothing is left of the command: its whole tree is stopped when its time is up, and what it has left in the background
// is ended with it, unless KeepBackground is set. A pipe that another process holds open delays nothing.
//
// [Recorder] puts the failures of Go handlers, from package boundary, into the same log.
package hook

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// DefaultTimeout is how long a hook may take if nothing else is said.
const DefaultTimeout = 60 * time.Second

// The two exit codes that clients know.
const (
	GoOn  = 0
	Block = 2
)

// Hook is one call of a hook's command.
type Hook struct {
	// Args are the command and its arguments; there is no shell.
	Args []string
	// Name is what failures are counted by; empty means the command's base name.
	Name string
	// Tags are labels of the call's own, and Env is the environment of the command, which has them; nil means the caller's.
	Tags map[string]string
	Env  []string
	// Timeout is how long the command may take; 0 means [DefaultTimeout], less than 0 no limit.
	Timeout time.Duration
	// FailClosed lets a failure block.
	FailClosed bool
	// KeepBackground leaves processes running that the command has started, unless it has timed out.
	KeepBackground bool

	// Stdin is what the client has to say; nil means nothing. Stdout and Stderr are the client's.
	Stdin          *os.File
	Stdout, Stderr io.Writer

	// MaxMemory is how many bytes the command may use with all that it has started; 0 means no limit.
	MaxMemory int64
	// Supervisor runs the command; nil means a zero one.
	Supervisor *supervise.Supervisor
	// ID marks what the command starts, see [supervise.RunIDVar]; empty means a random one. Where nothing may be left in
	// the background it should name its owner ([supervise.Records.OwnedID]).
	ID string
	// Announce, if not nil, tells other processes of the call, which began then. It is called for calls that take a while,
	// and at once with KeepBackground. What it returns, if not nil, is called at the end.
	Announce func(begun time.Time) (withdraw func())
	// Record puts a failure on record, if not nil. An error of it is printed to Stderr and changes nothing else.
	Record func(journal.Entry) error

	said supervise.Tail // what the command has written to stderr

	mu      sync.Mutex
	process *supervise.Process
	signal  syscall.Signal // has asked us to stop
	asked   int            // how often
}

// ladder is how the command is stopped. A client that stops us a second after the time we have from it (`belay hook
// install` sees to that) finds nothing left to stop.
func ladder(sig syscall.Signal) supervise.Ladder {
	return supervise.Ladder{{Signal: sig, Wait: 250 * time.Millisecond}}
}

// Run runs the command and returns the exit code for the client.
func (h *Hook) Run() int {
	begin := time.Now()
	in, err := openInput(h.Stdin)
	if err != nil {
		return h.fail(begin, nil, failed(fmt.Sprintf("was not given its stdin: %v", err)))
	}
	defer in.close()
	out := &held{live: h.Stdout}
	exit, err := h.supervise(in, out)
	if err != nil {
		return h.fail(begin, in, missing(err))
	}
	f, decided := judge(exit, h.timeout(), out)
	if f != nil && (h.FailClosed || !decided) {
		return h.fail(begin, in, f)
	}
	if f != nil {
		f.text = f.text + "; its decision was passed on"
		h.record(begin, in, f)
	}
	if err := out.deliver(); err != nil && exit.Code != Block {
		return h.fail(begin, in, failed(fmt.Sprintf("made a decision that could not be passed on: %v", err)))
	}
	return exit.ShellCode()
}

// supervise runs the command, and ends what it leaves.
func (h *Hook) supervise(in *input, out *held) (supervise.Exit, error) {
	if len(h.Args) == 0 {
		return supervise.Exit{}, errors.New(message.NoCommand())
	}
	path, err := supervise.Look(h.Args[0], "")
	if err != nil {
		return supervise.Exit{}, err
	}
	spec := supervise.Spec{Path: path, Args: h.Args, Env: h.Env, Stdin: in.child, Stdout: out, Stderr: passOn{h.Stderr, &h.said},
		Timeout: h.timeout(), Ladder: ladder(syscall.SIGTERM), RunID: h.ID, Ceilings: supervise.Ceilings{MaxMemory: h.MaxMemory}}
	if in.terminal {
		spec.Placement = supervise.TerminalPlacement()
	}
	sup := h.Supervisor
	if sup == nil {
		sup = &supervise.Supervisor{}
	}
	if spec.RunID == "" {
		spec.RunID = fmt.Sprintf("hook-%d-%016x", os.Getpid(), rand.Uint64())
	}
	defer h.announce()()
	var process *supervise.Process
	exit, err := sup.Run(spec, func(p *supervise.Process) {
		process = p
		in.started()
		h.started(p)
	})
	if len(exit.Left) > 0 && exit.Reason == supervise.Exited {
		h.endLeft(process, exit)
	}
	return exit, err
}

// passOn hides that a writer is a file: the command's children must not inherit the client's own pipe, or the client would
// wait for them too. What is passed on is said.
type passOn struct {
	io.Writer
	said *supervise.Tail
}

func (p passOn) Write(b []byte) (int, error) {
	p.said.Write(b)
	if p.Writer == nil {
		return len(b), nil
	}
	return p.Writer.Write(b)
}

func (h *Hook) timeout() time.Duration {
	if h.Timeout == 0 {
		return DefaultTimeout
	}
	return max(h.Timeout, 0)
}

// Label is what the hook is called: its name, or that of its command.
func (h *Hook) Label() string {
	if h.Name != "" || len(h.Args) == 0 {
		return h.Name
	}
	return filepath.Base(h.Args[0])
}

// Stop ends the command because this process has received that signal. The second time it is killed.
func (h *Hook) Stop(sig syscall.Signal) {
	h.mu.Lock()
	h.signal = sig
	h.asked++
	p, asked := h.process, h.asked
	h.mu.Unlock()
	switch {
	case p == nil: // it is stopped as soon as it has started
	case asked > 1:
		p.Kill()
	default:
		p.Stop(ladder(sig))
	}
}

func (h *Hook) started(p *supervise.Process) {
	h.mu.Lock()
	h.process = p
	sig := h.signal
	h.mu.Unlock()
	if sig != 0 {
		p.Stop(ladder(sig))
	}
}

// endLeft ends what the command has left in the background. A decision's stderr is the command's own, so nothing is said
// beside one that blocks.
func (h *Hook) endLeft(p *supervise.Process, exit supervise.Exit) {
	if h.KeepBackground {
		return
	}
	killed, _ := p.EndTree()
	if killed > 0 && exit.Code == GoOn {
		names := make([]string, len(exit.Left))
		for i, q := range exit.Left {
			names[i] = q.String()
		}
		h.say(fmt.Sprintf("ended what %s left running: %s. To let it run: belay hook --keep-background", h.Label(), strings.Join(names, ", ")))
	}
}

// say prints a message to stderr, which clients show in their debug output.
func (h *Hook) say(text string) {
	if h.Stderr != nil {
		term.Printf(h.Stderr, "belay hook: %s\n", text)
	}
}

// announceAfter is how long a call runs before other processes are told of it. Most are over by then, and telling them
// would take longer than all else that is done for a call. What a killed one leaves before that is found by its id.
const announceAfter = 100 * time.Millisecond

// announce tells other processes of the call: after a moment, or at once if its id does not name us. The function that it returns takes
// that back.
func (h *Hook) announce() (end func()) {
	var mu sync.Mutex
	var withdraw func()
	over, begun := h.Announce == nil, time.Now()
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		if !over && withdraw == nil {
			withdraw = h.Announce(begun)
		}
	}
	if h.KeepBackground {
		tell()
	}
	timer := time.AfterFunc(announceAfter, tell)
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if over = true; withdraw != nil {
			withdraw()
		}
	}
}
