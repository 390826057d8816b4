package mcp

import (
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/supervise"
)

// Options say which server stands behind a proxy, and what is around it. The zero value of each field works, but for
// Path and Args, or Remote. As JSON they are the settings alone, which belay hands over to belayd.
type Options struct {
	relay.Settings

	// ID names this proxy: it is in the log, and marks the server's processes.
	ID string `json:"-"`

	// Path is the executable and Args its command line, as in [supervise.Spec]. An empty Path means that it was not
	// found: PathError then says why.
	Path      string   `json:"-"`
	PathError error    `json:"-"`
	Args      []string `json:"-"`
	Dir       string   `json:"-"`
	Env       []string `json:"-"`

	// MaxMemory is how many bytes of memory the server may use with all that it has started: above it, it is restarted as soon as no call is under way. 0 means
	// no limit.
	MaxMemory int64 `json:"-"`

	// Remote is a server that runs elsewhere, in the place of a command. Nil means that there is a command.
	Remote Remote `json:"-"`

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

// Status is the state of a server.
type Status struct {
	PID         int
	Generation  int // how many have been started
	LastFailure string
	FailedAt    time.Time
	Memory      int64 // that it uses, where there is a limit
}

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
