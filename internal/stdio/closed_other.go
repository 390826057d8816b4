//go:build !linux

package stdio

// Closed reports whether a stream was closed when the program began. It is not known here.
func Closed(any) bool { return false }
