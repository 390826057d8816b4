package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// finished has the results that this machine has delivered, sealed as they were, by the digests of the payloads that they are of. A payload that comes again is not run again: its
// result is delivered again. That happens where a member puts back a row, and where PostgreSQL has lost what it had confirmed, as a copy does that takes over too early.
// Who wants a task to run again submits it again, which makes another payload.
//
// A machine cannot refuse a payload that it has begun and of which it has no result: after a kill that is how a job continues.
type finished struct {
	dir string

	mu    sync.Mutex
	items []finishedItem // the oldest first
	size  int64
}

// finishedItem is the folder of a job, with the report and its text.
type finishedItem struct {
	digest string
	size   int64
	at     time.Time
}

// How long results stay, how many, and how large they may be together.
const (
	finishedTime = 24 * time.Hour
	finishedMost = 1000
	finishedSize = 64 << 20
)

// digestName is the file in a folder with the digest of the payload, once there is a report.
const digestName = "payload"

func payloadDigest(payload []byte) string {
	sum := sha256.Sum256(payload)
	return hex.EncodeToString(sum[:])
}

// open finds what an earlier process has left. What has no report in it is not ours.
func (f *finished) open(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dir, f.items, f.size = dir, nil, 0
	names, _ := safefile.ReadOwnDir(dir)
	for _, name := range names {
		if info, err := os.Lstat(f.folder(name).path(reportName)); err == nil && info.Mode().IsRegular() {
			one := finishedItem{name, info.Size(), info.ModTime()}
			if text := f.folder(name).text(); text != nil {
				one.size += f.folder(name).size(filepath.Base(text.path))
			}
			f.items, f.size = append(f.items, one), f.size+one.size
		}
	}
	slices.SortFunc(f.items, func(a, b finishedItem) int { return a.at.Compare(b.at) })
	f.trim(finishedMost, finishedSize, finishedTime)
}

func (f *finished) folder(digest string) folder { return folder{filepath.Join(f.dir, digest)} }

// add takes over the folder of a job whose report was accepted. If it cannot be kept, it is removed.
func (f *finished) add(from folder, digest string, data []byte) {
	one := finishedItem{digest, int64(len(data)), time.Now()}
	names, err := safefile.ReadOwnDir(from.dir)
	for _, name := range names {
		if strings.HasPrefix(name, textPrefix) {
			one.size += from.size(name)
		} else if name != reportName {
			err = errors.Join(err, os.Remove(from.path(name)))
		}
	}
	if err == nil && one.size <= finishedSize && !slices.Contains(names, reportName) {
		err = from.keep(data)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = safefile.MakeOwnDir(f.dir)
	}
	f.drop(digest)
	if err != nil || one.size > finishedSize || os.Rename(from.dir, f.folder(digest).dir) != nil {
		from.remove()
		return
	}
	f.items, f.size = append(f.items, one), f.size+one.size
	f.trim(finishedMost, finishedSize, finishedTime)
}

// find returns what was reported of a payload; nil if that is not known. It then counts as the newest.
func (f *finished) find(digest string) *report {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trim(finishedMost, finishedSize, finishedTime)
	at := slices.IndexFunc(f.items, func(one finishedItem) bool { return one.digest == digest })
	if at < 0 {
		return nil
	}
	data, err := safefile.ReadOwn(f.folder(digest).path(reportName), finishedSize)
	if err != nil {
		return nil
	}
	one := f.items[at]
	one.at = time.Now()
	f.items = append(slices.Delete(f.items, at, at+1), one)
	return &report{result: data, text: f.folder(digest).text()}
}

// trim removes the oldest until what is left is within these bounds. The lock is held.
func (f *finished) trim(most int, size int64, age time.Duration) {
	for len(f.items) > 0 && (len(f.items) > most || f.size > size || time.Since(f.items[0].at) > age) {
		f.drop(f.items[0].digest)
	}
}

// drop removes the result of a payload, if there is one. The lock is held.
func (f *finished) drop(digest string) {
	if at := slices.IndexFunc(f.items, func(one finishedItem) bool { return one.digest == digest }); at >= 0 {
		f.size -= f.items[at].size
		f.items = slices.Delete(f.items, at, at+1)
		f.folder(digest).remove()
	}
}
