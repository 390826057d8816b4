package jobs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/safefile"
)

// workName is the directory in a job's place in which it works, if it is given files.
const workName = "work"

// removeAll removes a directory, even if a job has made read-only directories in it, as Go's module cache is.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	os.RemoveAll(dir)
}

// What ends the names of a job's place and of its directory.
const (
	placeSuffix = ".place"
	workSuffix  = ".work"
)

// place holds the directory that a job works in, if it is given files. It is the same for all attempts, because agents find their sessions by the directory.
func (w *Worker) place(job int64) string { return w.named(job, placeSuffix) }

// workDir is the directory that a job works in which is given no files and names no directory. Earlier versions had it in the place.
func (w *Worker) workDir(job int64) string { return w.named(job, workSuffix) }

func (w *Worker) named(job int64, suffix string) string {
	return filepath.Join(w.Dir, strconv.FormatInt(job, 10)+suffix)
}

// clear removes the directory that a job has worked in.
func (w *Worker) clear(job int64) {
	removeAll(w.workDir(job))
	removeAll(w.place(job))
}

// prepare makes the directory that a job works in. A session that is resumed finds it as it was; if it is gone, the session begins again.
func (w *Worker) prepare(ctx context.Context, a *attempt, job *fleetpipe.Job) (dir string, err error) {
	if job.Files == nil && job.Dir != "" {
		return job.Dir, nil
	}
	if a.session != "" {
		if dir := w.workedIn(a.job, job.Files != nil); dir != "" {
			return dir, nil
		}
		a.session, a.begun = "", "restarted"
	}
	if job.Files == nil {
		dir = w.workDir(a.job)
		return dir, w.spares.make(dir)
	}
	place := w.place(a.job)
	if err := makeAnew(place); err != nil {
		return "", err
	}
	dir = filepath.Join(place, workName)
	if job.Files.Archive != "" {
		err = w.unpack(ctx, a, job.Files.Archive, dir)
	} else {
		dir, err = w.Cache.CheckOut(ctx, job.Files, dir)
	}
	if err == nil {
		err = safefile.WriteOwn(filepath.Join(place, noteName), []byte(dir))
	}
	return dir, err
}

// noteName is the file in a place that names the directory in which the job works, once all its files are there.
const noteName = "dir"

// workedIn is the directory in which a job has worked; empty if it is gone.
func (w *Worker) workedIn(job int64, files bool) string {
	dirs := []string{w.workDir(job), filepath.Join(w.place(job), workName)}
	if files {
		data, err := safefile.ReadOwn(filepath.Join(w.place(job), noteName), 1<<16)
		if err != nil {
			return ""
		}
		dirs = []string{string(data)}
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return ""
}
