// Package detach starts programs that go on without us, and keeps the machine awake for as long as we run.
//
// They lead a session of their own, so that no terminal and no Ctrl-C reaches them, and carry no mark of a run, so that they are not taken for what a run has left:
// a program that a run is to end with its tree must not be started here. [Start] does not wait for one, [For] waits and kills it after a time, and [Launch] also reads what it prints.
// [With] keeps the mark and the streams, for a caller who sees to the rest.
//
// None of them is found again once it runs: what it does then, and whether it ends, is its own.
package detach

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// Start starts a program that goes on without us: in a session of its own, with nothing to read or write, in the root
// directory, and without the mark of a run, so that it is not taken for what a run has left. It is not waited for.
func Start(path string, args []string) error {
	p, err := startForgotten(path, args)
	if err == nil {
		go p.Wait() // if it ends before us, it must not stay as a zombie, or its handle open
	}
	return err
}

// For does the same, waits for the program, and kills it if it takes longer. It is for a process that will start a command next: what
// is still there then cannot be told from what the command leaves running.
func For(limit time.Duration, path string, args []string) error {
	p, err := startForgotten(path, args)
	if err != nil {
		return err
	}
	late := time.AfterFunc(limit, func() { p.Kill() })
	defer late.Stop()
	_, err = p.Wait()
	return err
}

// With starts a program that goes on without us: in a session of its own, with these three streams, in our directory and our environment. Within a run it
// belongs to that run, as all that is started there. The caller waits for it, or does not.
func With(path string, args []string, stdin, stdout, stderr *os.File) (*os.Process, error) {
	return os.StartProcess(path, args, &os.ProcAttr{Files: []*os.File{stdin, stdout, stderr}, Sys: ownSession(true)})
}

// startForgotten starts a program with nothing to read or write but these streams.
func startForgotten(path string, args []string, streams ...*os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, proctable.RunIDVar+"=") })
	files := append(streams, null, null, null)[:3]
	p, err := os.StartProcess(path, args, &os.ProcAttr{Dir: rootDir, Env: env, Files: files, Sys: ownSession(false)})
	if err == nil {
		forget(p.Pid)
	}
	return p, err
}
