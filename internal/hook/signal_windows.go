package hook

import (
	"fmt"
	"syscall"
)

func signalName(sig syscall.Signal) string { return fmt.Sprintf("%d", int(sig)) }
