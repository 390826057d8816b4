package stdio

import "golang.org/x/sys/unix"

// nullDevice is the number of /dev/null.
var nullDevice = unix.Mkdev(1, 3)

// Closed reports whether a stream was closed when the program began, as by >&- in a shell. Go has opened /dev/null in its place by then, for reading
// and writing, which no shell does for an output.
func Closed(stream any) bool {
	f := FileOf(stream)
	if f == nil {
		return false
	}
	var info unix.Stat_t
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR && unix.Fstat(int(f.Fd()), &info) == nil &&
		info.Mode&unix.S_IFMT == unix.S_IFCHR && uint64(info.Rdev) == nullDevice
}
