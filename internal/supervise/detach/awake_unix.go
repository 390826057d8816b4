//go:build linux || darwin

package detach

import (
	"errors"
	"os"
	"time"

	"github.com/belay-run/belay/internal/supervise/executable"
)

// awake is our end of the pipe to the inhibitor.
var awake *os.File

// KeepAwake keeps the machine from going to sleep until this process ends, in whatever way: the inhibitor ends with the pipe that we hold.
func KeepAwake() error {
	path, err := executable.Look(inhibitor[0], "")
	if err != nil {
		return err
	}
	in, hold, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	awake = hold
	out, answer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	inhibits, err := startForgotten(path, inhibitor, in, answer)
	answer.Close()
	if err != nil {
		return err
	}
	go inhibits.Wait()
	// What comes back has gone through the inhibitor, which is in force then.
	hold.Write([]byte{'\n'})
	out.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := out.Read(make([]byte, 1)); err != nil {
		hold.Close()
		inhibits.Kill() // it may hang
		return errors.New(inhibitor[0] + " does not work here")
	}
	return nil
}
