//go:build unix

package shim

import (
	"bytes"
	"os"
)

// Startable reports whether the system itself can start a file. A script that does not name its interpreter is run by shells alone,
// and by them only because the system refuses it.
func Startable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // it may be for execution only
	}
	defer f.Close()
	var head [4]byte
	n, err := f.Read(head[:])
	if err != nil {
		return true
	}
	for _, magic := range [...]string{"#!", "\x7fELF", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(head[:n], []byte(magic)) {
			return true
		}
	}
	return false
}
