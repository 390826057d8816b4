package message

import (
	"fmt"
)

// CannotDetach says that a run cannot be started in the background.
func CannotDetach(err error) string { return fmt.Sprintf("cannot detach: %v", err) }

// Start is what a countdown counts down to.
func Start(name string) string { return "start of " + name }
