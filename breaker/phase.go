package breaker

import "fmt"

// Phase is what a breaker does with calls. The zero value is Closed.
type Phase uint8

const (
	Closed   Phase = iota // every call goes through
	Open                  // no call does
	HalfOpen              // one call at a time does, as a probe
)

var phases = [...]string{"closed", "open", "half_open"}

// String returns closed, open or half_open.
func (p Phase) String() string {
	if int(p) < len(phases) {
		return phases[p]
	}
	return fmt.Sprintf("phase(%d)", uint8(p))
}

// MarshalText writes what String returns.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what String returns, and refuses what it does not know: a file that says something else is not
// one of ours.
func (p *Phase) UnmarshalText(text []byte) error {
	for i, name := range phases {
		if name == string(text) {
			*p = Phase(i)
			return nil
		}
	}
	return fmt.Errorf("breaker phase %q: want closed, open or half_open", text)
}
