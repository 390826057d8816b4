package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// folder is the directory of a job on this machine, named by its fence. It is there while the machine works on the job: after a kill, the next start
// finds by it what it has to deliver or to hand over.
type folder struct{ dir string }

// reportName is the file with what is to be delivered.
const reportName = "report"

func (w *Worker) folder(f fence) folder {
	return folder{filepath.Join(w.Dir, fmt.Sprintf("%d.%d", f.job, f.attempt))}
}

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

// make makes the folder of a job.
func (w *Worker) make(f folder) error {
	if err := safefile.MakeOwnDir(w.Dir); err != nil {
		return err
	}
	return w.spares.make(f.dir)
}

// makeAnew makes a directory, in place of what is there.
func makeAnew(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, os.ErrExist) {
		removeAll(dir)
		err = os.Mkdir(dir, 0o700)
	}
	return err
}

func (f folder) write(name string, data []byte) error {
	file, err := safefile.CreateOwn(f.path(name))
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// keep keeps what is to be delivered.
func (f folder) keep(data []byte) error {
	return atomicfile.Write(f.path(reportName), "report-*", data)
}

// size is how large one of its files is.
func (f folder) size(name string) int64 {
	info, err := os.Lstat(f.path(name))
	if err != nil {
		return 0
	}
	return info.Size()
}

// move makes it that of another attempt, by which the next start then reports the result.
func (f folder) move(to folder) folder {
	if f == to || os.Rename(f.dir, to.dir) != nil {
		return f
	}
	return to
}

func (f folder) remove() { removeAll(f.dir) }

// takeUp delivers what a worker of this machine has left that was killed, takes up its sessions, and hands over what else it has not finished.
func (w *Worker) takeUp(ctx context.Context) (own []claimed, err error) {
	left, works, err := w.left()
	if err != nil {
		return nil, err
	}
	unfinished := map[fence]folder{}
	for f, folder := range left {
		data, err := safefile.ReadOwn(folder.path(reportName), 2*rowMost)
		if err != nil {
			unfinished[f] = folder
			continue
		}
		accepted, ok := w.reporter.report(ctx, report{fence: f, result: data, text: folder.text()})
		if !ok {
			return nil, ctx.Err()
		}
		digest, _ := safefile.ReadOwn(folder.path(digestName), 1<<10)
		w.finish(folder, string(digest), data, accepted)
	}
	for failures := 1; ; failures++ {
		if own, err = w.regain(ctx, w.Count); err == nil {
			break
		}
		if failures > 1 {
			w.claimer.away(err)
		}
		if !pause(ctx, failures) {
			return nil, ctx.Err()
		}
	}
	for f, folder := range unfinished {
		// One that is taken up has another attempt by now, and stays as it is.
		if _, ok := w.reporter.report(ctx, report{fence: f}); !ok {
			return nil, ctx.Err()
		}
		folder.remove()
	}
	for _, job := range works {
		if !slices.ContainsFunc(own, func(c claimed) bool { return c.job == job }) {
			w.clear(job)
		}
	}
	return own, nil
}

// left lists the folders that are on disk, and the jobs that have a directory to work in.
func (w *Worker) left() (folders map[fence]folder, works []int64, err error) {
	names, err := safefile.ReadOwnDir(w.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	folders = map[fence]folder{}
	for _, name := range names {
		if isSpare(name) {
			removeAll(filepath.Join(w.Dir, name))
		}
		id, number, _ := strings.Cut(name, ".")
		job, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			continue
		}
		if name == id+placeSuffix || name == id+workSuffix {
			works = append(works, job)
		} else if n, err := strconv.Atoi(number); err == nil {
			f := fence{job, n}
			folders[f] = w.folder(f)
		}
	}
	return folders, works, nil
}
