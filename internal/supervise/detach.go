package supervise

import (
	"os"
	"slices"
	"strings"
	"time"
)

// Detach starts a program that goes on without us: in a session of its own, with nothing to read or write, in the root
// directory, and without the mark of a run, so that it is not taken for what a run has left. It is not waited for.
func Detach(path string, args []string) error {
	p, err := startForgotten(path, args)
	if err == nil {
		go p.Wait() // if it ends before us, it must not stay as a zombie, or its handle open
	}
	return err
}

// DetachFor does the same, waits for the program, and kills it if it takes longer. It is for a process that will start a command next: what
// is still there then cannot be told from what the command leaves running.
func DetachFor(limit time.Duration, path string, args []string) error {
	p, err := startForgotten(path, args)
	if err != nil {
		return err
	}
	late := time.AfterFunc(limit, func() { p.Kill() })
	defer late.Stop()
	_, err = p.Wait()
	return err
}

// DetachWith starts a program that goes on without us: in a session of its own, with these three streams, in our directory and our environment. Within a run it
// belongs to that run, as all that is started there. The caller waits for it, or does not.
func DetachWith(path string, args []string, stdin, stdout, stderr *os.File) (*os.Process, error) {
	return os.StartProcess(path, args, &os.ProcAttr{Files: []*os.File{stdin, stdout, stderr}, Sys: ownSession(true)})
}

// startForgotten starts a program with nothing to read or write but these streams.
func startForgotten(path string, args []string, streams ...*os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, RunIDVar+"=") })
	files := append(streams, null, null, null)[:3]
	p, err := os.StartProcess(path, args, &os.ProcAttr{Dir: rootDir, Env: env, Files: files, Sys: ownSession(false)})
	if err == nil {
		forget(p.Pid)
	}
	return p, err
}
