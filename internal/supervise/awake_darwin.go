package supervise

import (
	"os"
	"strconv"
)

// KeepAwake keeps the machine from going to sleep until release is called or this process ends, in whatever way: caffeinate waits for that.
func KeepAwake() (release func(), err error) {
	path, err := Look("caffeinate", "")
	if err != nil {
		return nil, err
	}
	p, err := startForgotten(path, []string{path, "-i", "-s", "-w", strconv.Itoa(os.Getpid())})
	if err != nil {
		return nil, err
	}
	go p.Wait()
	return func() { p.Kill() }, nil
}
