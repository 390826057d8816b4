package mcp

import (
	"cmp"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
)

// Options say which server stands behind a proxy and how long calls may take. The zero value of each field works, but for
// Path and Args, or Remote. As JSON they are the settings alone, which belay hands over to belayd.
type Options struct {
	// Name is what the server is called, in messages, in the log and at the gate ("mcp:<name>"). Empty means the base
	// name of its command.
	Name string
	// ID names this proxy: it is in the log, and marks the server's processes.
	ID string `json:"-"`

	// Path is the executable and Args its command line, as in [supervise.Spec]. An empty Path means that it was not
	// found: PathError then says why.
	Path      string   `json:"-"`
	PathError error    `json:"-"`
	Args      []string `json:"-"`
	Dir       string   `json:"-"`
	Env       []string `json:"-"`

	// Remote is a server that runs elsewhere, in the place of a command. Nil means that there is a command.
	Remote Remote `json:"-"`

	// Timeout is how long a call may go without an answer or a sign of progress. 0 means 30 s, [Never] no limit.
	Timeout time.Duration
	// ToolTimeouts takes its place for single tools.
	ToolTimeouts map[string]time.Duration
	// MaxTimeout bounds a call whatever progress it makes. 0 means 10 min, [Never] no bound; less than the call's own
	// limit means that.
	MaxTimeout time.Duration
	// StartTimeout is how long the server may take over the first request. 0 means 60 s: some are downloaded first.
	StartTimeout time.Duration
	// Hang is how long, after a call has timed out, the server may go without any sign of life until it is ended and
	// started again. 0 means as long as Timeout, [Never] for ever.
	Hang time.Duration

	// NoRestart is for servers whose state must not be lost unnoticed: one that has died is not restarted, and calls fail.
	NoRestart bool
	// CallRetries is how often a call that is safe to repeat is sent again when its server has crashed, after 1, 2, 4 s and so on. 0
	// means 3, negative none. NoRetry turns off every repetition.
	CallRetries int
	NoRetry     bool
	// RetryTools says of single tools whether they are safe to repeat, whatever the server says of them.
	RetryTools map[string]bool

	// MaxMemory is how many bytes of memory the server may use with all that it has started: above it, it is restarted as soon as no call is under way. 0 means
	// no limit.
	MaxMemory int64 `json:"-"`

	// MaxMessage is the largest message that is carried. 0 means 64 MiB.
	MaxMessage int

	// Supervisor starts the server. Nil means the library's.
	Supervisor *supervise.Supervisor `json:"-"`
	// Gate is what all proxies of this server share. Nil means none.
	Gate *gate.Gate `json:"-"`
	// Log is called with each incident. Nil means that none is logged.
	Log func(journal.Entry) `json:"-"`
	// Status is called at each change, if not nil. It must not block for long.
	Status func(Status) `json:"-"`

	Stdin          io.Reader `json:"-"`
	Stdout, Stderr io.Writer `json:"-"`

	// Rand spreads the restarts and returns numbers in [0,1). Nil means math/rand/v2.
	Rand func() float64 `json:"-"`
}

// Never as a limit means none.
const Never time.Duration = -1

// Status is the state of a server.
type Status struct {
	PID         int
	Generation  int // how many have been started
	LastFailure string
	FailedAt    time.Time
	Memory      int64 // that it uses, where there is a limit
}

func (o *Options) limitOf(tool string) time.Duration {
	d, said := o.ToolTimeouts[tool]
	if !said || tool == "" {
		d = o.Timeout
	}
	return limit(d, defaultCall)
}

func (o *Options) maxTimeout() time.Duration   { return limit(o.MaxTimeout, 10*time.Minute) }
func (o *Options) startTimeout() time.Duration { return limit(o.StartTimeout, time.Minute) }

func (o *Options) hang() time.Duration {
	if o.Hang == 0 {
		return o.limitOf("")
	}
	return limit(o.Hang, 0)
}

// retries is how often a call may be sent again, if that is safe. What opens a session is sent again once, and at once: a server
// that does not start is not to hold up its client.
func (o *Options) retries(k *call) int {
	switch {
	case o.NoRetry:
		return 0
	case k.opens():
		return 1
	case o.CallRetries < 0:
		return 0
	}
	return cmp.Or(o.CallRetries, 3)
}

func (o *Options) maxLine() int {
	if o.MaxMessage <= 0 {
		return 64 << 20
	}
	return o.MaxMessage
}

func (o *Options) gateKey() string { return "mcp:" + o.Name }

func (o *Options) command() string {
	if len(o.Args) == 0 {
		return o.Name
	}
	return filepath.Base(o.Args[0])
}

func (o *Options) random() float64 {
	if o.Rand != nil {
		return o.Rand()
	}
	return rand.Float64()
}

// limit reads a setting of which 0 means the default and a negative one none, which is 0 from here on.
func limit(d, otherwise time.Duration) time.Duration {
	return max(0, cmp.Or(d, otherwise))
}
