package cli

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// desk is what a worker of a batch uses for one task after the other: two files without a name, which plain commands write to directly.
// Pipes, and goroutines that read them, would cost a fifth of what it takes to start a command.
type desk struct {
	stdout, stderr *os.File // nil where commands write to pipes
	null           *os.File
	tail           tailWriter
	used           bool // the files are given to the present command
}

// maxStderr is how much is kept of what a failed command has said on stderr: its end.
const maxStderr = 4 << 10

// desk is that of a worker.
func (r *taskRunner) desk(worker int) *desk {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.desks) <= worker {
		r.desks = append(r.desks, &desk{})
	}
	return r.desks[worker]
}

// clear takes off what the task before has left.
func (d *desk) clear() {
	d.used, d.tail = false, tailWriter{}
	for _, f := range []*os.File{d.stdout, d.stderr} {
		if f == nil || sizeOf(f) == 0 {
			continue
		}
		if err := f.Truncate(0); err != nil {
			d.drop()
			return
		}
		f.Seek(0, io.SeekStart)
	}
}

// drop gives up the files: a process that was left running may still write to them.
func (d *desk) drop() {
	for _, f := range []*os.File{d.stdout, d.stderr} {
		if f != nil {
			f.Close()
		}
	}
	if d.null != nil {
		d.null.Close()
	}
	d.stdout, d.stderr, d.null = nil, nil, nil
}

// connect gives a command its streams. keeps says that there are enough files for some to be kept between tasks.
func (d *desk) connect(c *engine.Command, r *engine.Runner, keeps bool) {
	direct := keeps && r.State == nil && r.Policy.MaxRetries <= 0 && runtime.GOOS != "windows" // where an open file keeps its name
	if direct && d.open() {
		c.Stdout, c.Stderr, d.used = d.stdout, d.stderr, true
		if c.Prompt == nil && d.null != nil {
			c.Stdin = d.null // else it would be opened for each command
		}
		return
	}
	c.Stderr = &d.tail
}

// open makes sure that the files are there.
func (d *desk) open() bool {
	if d.stdout != nil {
		return true
	}
	var err error
	if d.stdout, err = unnamed(); err == nil {
		if d.stderr, err = unnamed(); err == nil {
			if d.null == nil {
				d.null, _ = os.Open(os.DevNull)
			}
			return true
		}
	}
	d.drop()
	return false
}

// unnamed makes a file that is gone however we end.
func unnamed() (*os.File, error) {
	f, err := os.CreateTemp("", "belay-task-*")
	if err == nil {
		err = os.Remove(f.Name())
	}
	return f, err
}

// collect takes what the command has printed into its result.
func (d *desk) collect(o *batch.Outcome, res *engine.Result) {
	if !d.used {
		if o.State == batch.Failed {
			o.Stderr = d.tail.String()
		}
		return
	}
	if res.Output == nil {
		res.Output = engine.FileOutput(d.stdout, sizeOf(d.stdout))
	}
	if o.State == batch.Failed {
		size := sizeOf(d.stderr)
		text := make([]byte, min(size, maxStderr))
		n, _ := d.stderr.ReadAt(text, size-int64(len(text)))
		o.Stderr = strings.ToValidUTF8(string(text[:n]), "\uFFFD")
	}
}

func sizeOf(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// close frees what a result holds.
func (d *desk) close(res *engine.Result) {
	switch {
	case !d.used:
		res.Output.Close()
	case len(res.Left) > 0 || res.OrphansKilled > 0:
		d.drop()
	}
}

// makeOutputDir makes the directory for outputs, if there is to be one, and finds out whether it can be written to.
func (r *taskRunner) makeOutputDir(tasks string) error {
	dir := r.options.outputDir
	if dir == "" {
		return nil
	}
	err := batch.CheckOutputDir(dir, tasks)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(dir, ".belay-*"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return usage(message.Error(message.BatchOutputDir(dir, pathless(err)), err), "")
	}
	return nil
}

// save writes the output of a task to a file of its own, as a whole. If that fails, it stays in the results.
func (d *desk) save(job *batch.Job, o *batch.Outcome, res *engine.Result, dir string) error {
	if err := job.SaveOutput(dir, o, res.Output.Reader); err != nil {
		return err
	}
	d.close(res)
	res.Output = nil
	return nil
}

// tailWriter keeps the end of what is written to it.
type tailWriter struct{ kept []byte }

// Write implements [io.Writer].
func (t *tailWriter) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// String is what was kept.
func (t *tailWriter) String() string { return strings.ToValidUTF8(string(t.kept), "\uFFFD") }

// pathStarter starts processes, and looks for the executable of a command once: the PATH of a batch does not change.
type pathStarter struct {
	engine.Supervised
	mu    sync.Mutex
	found map[[2]string]string
}

// Look implements [engine.Starter].
func (s *pathStarter) Look(name, dir string) (string, error) {
	s.mu.Lock()
	path, ok := s.found[[2]string{name, dir}]
	s.mu.Unlock()
	if ok {
		return path, nil
	}
	path, err := s.Supervised.Look(name, dir)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.found == nil || len(s.found) > 1000 { // a command for each task, say
			s.found = map[[2]string]string{}
		}
		s.found[[2]string{name, dir}] = path
	}
	return path, err
}

// Run implements [engine.Starter].
func (s *pathStarter) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	exit, err := s.Supervised.Run(spec, started)
	if err != nil { // it may be somewhere else by now
		s.mu.Lock()
		defer s.mu.Unlock()
		s.found = nil
	}
	return exit, err
}
