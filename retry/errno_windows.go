package retry

import "syscall"

// The names are made up on Windows; the numbers are what Winsock and pipes really return.
var transientErrnos = [...]syscall.Errno{
	syscall.ECONNREFUSED,
	syscall.ECONNRESET,
	syscall.ECONNABORTED,
	syscall.EPIPE,
	syscall.ETIMEDOUT,
	syscall.EHOSTUNREACH,
	syscall.ENETUNREACH,
	10061, // WSAECONNREFUSED
	10054, // WSAECONNRESET
	10053, // WSAECONNABORTED
	10060, // WSAETIMEDOUT
	10065, // WSAEHOSTUNREACH
	10051, // WSAENETUNREACH
	109,   // ERROR_BROKEN_PIPE
	232,   // ERROR_NO_DATA, the pipe is being closed
}
