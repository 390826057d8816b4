package call

import "syscall"

// SignalName is the name of a signal, as "SIGTERM".
func SignalName(sig syscall.Signal) string { return sig.String() }
