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

// workName is the directory in a job's place in which it works.
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

// placeSuffix ends the name of a job's place.
const placeSuffix = ".place"

// place holds the directory that a job works in, unless the job names one. It is the same for all attempts, because agents find their sessions by the directory.
func (w *Worker) place(job int64) string {
	return filepath.Join(w.Dir, strconv.FormatInt(job, 10)+placeSuffix)
}

// prepare makes the directory that a job works in. A session that is resumed finds it as it was; if it is gone, the session begins again.
func (w *Worker) prepare(ctx context.Context, a *attempt, job *fleetpipe.Job) (dir string, err error) {
	if job.Files == nil && job.Dir != "" {
		return job.Dir, nil
	}
	place := w.place(a.job)
	if a.session != "" {
		if dir := workedIn(place, job.Files != nil); dir != "" {
			return dir, nil
		}
		a.session, a.begun = "", "restarted"
	}
	if err := makeAnew(place); err != nil {
		return "", err
	}
	dir = filepath.Join(place, workName)
	if job.Files == nil {
		return dir, os.Mkdir(dir, 0o700)
	}
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

// workedIn is the directory in which the job of a place has worked; empty if it is gone.
func workedIn(place string, files bool) string {
	dir := filepath.Join(place, workName)
	if files {
		data, err := safefile.ReadOwn(filepath.Join(place, noteName), 1<<16)
		if err != nil {
			return ""
		}
		dir = string(data)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}
