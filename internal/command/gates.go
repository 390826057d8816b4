package command

import (
	"github.com/belay-run/belay/internal/overview"
)

// Gates returns the gates that are not healthy; never nil.
func Gates() ([]overview.Gate, error) {
	s, err := OpenState()
	if err != nil {
		return nil, err
	}
	gates, _, err := overview.Gates(s)
	return gates, Fail(err)
}
