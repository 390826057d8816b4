package batch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/message"
)

// settle makes sure that what is written next goes to the end of the file that is at the path, and that this file has all results. An editor
// replaces it, a script moves another one over it, and a user removes it; each of them while the batch runs. The lock is held.
func (l *Ledger) settle() error {
	if l.journal.file == nil { // the null device
		return nil
	}
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(l.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		os.MkdirAll(filepath.Dir(l.path), 0o700)
		return l.adopt("was removed by another program; all results are written to it again")
	case err != nil:
		return err
	case !os.SameFile(mine, there):
		return l.adopt("was replaced by another program; the results that it lacked are written to it again")
	case mine.Size() != l.size:
		return l.reread()
	}
	return nil
}

// adopt goes on with the file that has taken the place of the results, or with a new one, and appends those that it does not have. What was written to the
// one before is still there as long as it is open.
func (l *Ledger) adopt(why string) error {
	f, _, err := openResults(l.path)
	if err != nil {
		return l.rescue(err)
	}
	before, size := l.file, l.size
	if !claim(f) {
		f.Close()
		return l.rescue(&InUse{Path: l.path})
	}
	type result struct {
		task string
		entry
	}
	has := map[result]bool{}
	key := func(r parsed) result { return result{r.task, entry{hash: r.hash, state: r.state}} }
	l.file = f
	if err = l.read(func(_ int64, _ []byte, r parsed) { has[key(r)] = true }); err == nil {
		_, _, serr := scan(io.NewSectionReader(before, 0, size), func(_ int64, line []byte, r parsed) {
			if err == nil && !has[key(r)] {
				var n int
				n, err = f.Write(append(line, '\n'))
				l.size += int64(n)
			}
		})
		err = errors.Join(err, serr)
	}
	l.file = before
	if err != nil {
		f.Close()
		l.size = size
		return err
	}
	l.use(f, l.size)
	l.say(l.path + " " + why)
	return nil
}

// rescue writes the results to a new file, because what has taken their place cannot be used.
func (l *Ledger) rescue(why error) error {
	if l.size == 0 {
		return why
	}
	f, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*")
	if err != nil {
		return errors.Join(why, err)
	}
	_, err = io.Copy(f, io.NewSectionReader(l.file, 0, l.size))
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(why, err)
	}
	return fmt.Errorf("%v; the results so far are in %s", why, filepath.Clean(f.Name()))
}

// reread finds the end of a file that another program has written to. What it has taken away cannot be written again.
func (l *Ledger) reread() error {
	if !isLedger(l.file, true) {
		return errors.New(message.BatchNotResults())
	}
	if err := l.read(func(int64, []byte, parsed) {}); err != nil {
		return err
	}
	l.changed = true
	l.say(fmt.Sprintf("%s was changed by another program", l.path))
	return nil
}

// use makes another file the one of the results.
func (l *Ledger) use(f *os.File, size int64) {
	claim(f)
	l.file.Close()
	l.file, l.size, l.dirty, l.changed = f, size, true, true
}

func (l *Ledger) say(text string) {
	if l.Notice != nil {
		l.Notice(text)
	}
}

// missing are the tasks of a plan that have ended, but whose results are not in the file although they were written: another program has taken them
// away. It looks for them only where one has touched the file.
func (l *Ledger) missing(p *Plan) (lost []uint32, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return nil, nil
	}
	if err := l.settle(); err != nil || !l.changed {
		return nil, err
	}
	has := make([]bool, p.Len())
	if _, _, err = scan(l.file, func(_ int64, _ []byte, r parsed) {
		if n, ok := p.find(r.task); ok && p.tasks[n].hash == r.hash && *p.state(n) == r.state {
			has[n] = true
		}
	}); err != nil {
		return nil, err
	}
	for n := range uint32(p.Len()) {
		if s := *p.state(n); !has[n] && (s == Done || s == Failed || s == Skipped) {
			lost = append(lost, n)
		}
	}
	return lost, nil
}
