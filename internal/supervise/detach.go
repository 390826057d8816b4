package supervise

import "time"

// Detach starts a program that goes on without us: in a session of its own, with nothing to read or write, in the root
// directory, and without the mark of a run, so that it is not taken for what a run has left. It is not waited for.
func Detach(path string, args []string) error {
	p, err := startDetached(path, args)
	if err == nil {
		go p.Wait() // if it ends before us, it must not stay as a zombie, or its handle open
	}
	return err
}

// DetachFor does the same, waits for the program, and kills it if it takes longer. It is for a process that will start a command next: what
// is still there then cannot be told from what the command leaves running.
func DetachFor(limit time.Duration, path string, args []string) error {
	p, err := startDetached(path, args)
	if err != nil {
		return err
	}
	late := time.AfterFunc(limit, func() { p.Kill() })
	defer late.Stop()
	_, err = p.Wait()
	return err
}
