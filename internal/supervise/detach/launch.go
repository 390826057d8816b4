package detach

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Launched is what has become of a program that was launched.
type Launched struct {
	Code           int
	Stdout, Stderr []byte // as much as is of interest
}

// maxLaunched bounds what is kept of each output of a program that is launched.
const maxLaunched = 64 << 10

// Launch runs a short program that starts what goes on without us, such as a detached batch: in a directory, in a session of its own, with nothing to read and
// without the mark of a run. What it leaves running is left alone. If it takes longer than the limit, it is killed.
func Launch(limit time.Duration, dir, path string, args []string) (l Launched, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return l, err
	}
	defer null.Close()
	var ends [2]*os.File
	var reading sync.WaitGroup
	for i, to := range []*[]byte{&l.Stdout, &l.Stderr} {
		r, w, perr := os.Pipe()
		if perr != nil {
			err = perr
			break
		}
		ends[i] = w
		reading.Go(func() {
			defer r.Close()
			r.SetReadDeadline(time.Now().Add(limit)) // for one who inherits it
			var head bytes.Buffer
			io.CopyN(&head, r, maxLaunched)
			io.Copy(io.Discard, r)
			*to = head.Bytes()
		})
	}
	var p *os.Process
	if err == nil {
		env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, proctable.RunIDVar+"=") })
		p, err = os.StartProcess(path, args, &os.ProcAttr{Dir: dir, Env: env, Files: []*os.File{null, ends[0], ends[1]}, Sys: ownSession(true)})
	}
	for _, w := range ends {
		w.Close()
	}
	if err == nil {
		forget(p.Pid)
		late := time.AfterFunc(limit, func() { p.Kill() })
		ended, werr := p.Wait()
		late.Stop()
		if err = werr; err == nil {
			l.Code = ended.ExitCode()
		}
	}
	reading.Wait()
	return l, err
}
