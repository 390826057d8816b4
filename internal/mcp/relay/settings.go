package relay

import (
	"cmp"
	"time"
)

// Settings say what a server is called, how long calls may take and what is repeated. The zero value of each field works. As JSON they are
// what belay hands over to belayd.
type Settings struct {
	// Name is what the server is called, in messages, in the log and at the gate ("mcp:<name>"). Empty means the base
	// name of its command.
	Name string

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

	// MaxMessage is the largest message that is carried. 0 means 64 MiB.
	MaxMessage int
}

// Never as a limit means none.
const Never time.Duration = -1

// defaultCall is how long a call may take that has no limit of its own.
const defaultCall = 30 * time.Second

func (s *Settings) limitOf(tool string) time.Duration {
	d, said := s.ToolTimeouts[tool]
	if !said || tool == "" {
		d = s.Timeout
	}
	return limit(d, defaultCall)
}

func (s *Settings) maxTimeout() time.Duration   { return limit(s.MaxTimeout, 10*time.Minute) }
func (s *Settings) startTimeout() time.Duration { return limit(s.StartTimeout, time.Minute) }

func (s *Settings) hang() time.Duration {
	if s.Hang == 0 {
		return s.limitOf("")
	}
	return limit(s.Hang, 0)
}

// MaxLine is how many bytes a message may have.
func (s *Settings) MaxLine() int {
	if s.MaxMessage <= 0 {
		return 64 << 20
	}
	return s.MaxMessage
}

// GateKey is what the server is called at the gate.
func (s *Settings) GateKey() string { return "mcp:" + s.Name }

// limit reads a setting of which 0 means the default and a negative one none, which is 0 from here on.
func limit(d, otherwise time.Duration) time.Duration {
	return max(0, cmp.Or(d, otherwise))
}
