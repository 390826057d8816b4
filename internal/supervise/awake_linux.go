package supervise

import (
	"errors"
	"os"
	"time"
)

// KeepAwake keeps the machine from going to sleep until release is called or this process ends, in whatever way: the inhibitor ends with the pipe that we hold.
func KeepAwake() (release func(), err error) {
	path, err := Look("systemd-inhibit", "")
	if err != nil {
		return nil, err
	}
	in, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, answer, err := os.Pipe()
	if err != nil {
		hold.Close()
		return nil, err
	}
	defer out.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		var p *os.Process
		p, err = os.StartProcess(path, []string{path, "--what=idle:sleep", "--who=belay", "--why=runs are under way", "--mode=block", "cat"},
			&os.ProcAttr{Files: []*os.File{in, answer, null}, Sys: ownSession(false)})
		if null.Close(); err == nil {
			forget(p.Pid)
			go p.Wait()
		}
	}
	answer.Close()
	if err == nil { // what comes back has gone through the inhibitor, which is in force then
		hold.Write([]byte{'\n'})
		out.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err = out.Read(make([]byte, 1)); err != nil {
			err = errors.New("systemd-inhibit does not work here")
		}
	}
	if err != nil {
		hold.Close()
		return nil, err
	}
	return func() { hold.Close() }, nil
}
