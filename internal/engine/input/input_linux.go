package input

import (
	"os"

	"golang.org/x/sys/unix"
)

const fionread = unix.TIOCINQ

// pipeCapacity is what every pipe takes without a reader: a page, also where a user has so many pipes that new ones are made small.
const pipeCapacity = 4 << 10

// filledPipe is the read end of a pipe that has the text, and then ends.
func filledPipe(text string) (*os.File, error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	defer unix.Close(fd[1])
	if _, err := unix.Write(fd[1], []byte(text)); err != nil {
		unix.Close(fd[0])
		return nil, os.NewSyscallError("write", err)
	}
	return os.NewFile(uintptr(fd[0]), "|0"), nil
}
