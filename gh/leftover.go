package gh

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// A request that does not fit into arguments goes by a file of this name, in which the process stands that made it.
const requestFile = "belay-graphql-"

// requestBegin is how such a file begins.
const requestBegin = `{"query":`

// maxRequest is how large such a file can be.
const maxRequest = 64 << 20

// leftAfter is the age from which on a file of a process that is gone was left by it.
const leftAfter = time.Hour

func requestPattern() string { return fmt.Sprintf("%s%d-*.json", requestFile, os.Getpid()) }

// sweep removes the files that killed programs have left. What belongs to another user stays.
func sweep(dir string, now time.Time) {
	files, _ := filepath.Glob(filepath.Join(dir, requestFile+"*.json"))
	for _, path := range files {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > leftAfter && !inUse(filepath.Base(path)) && isRequest(path) {
			os.Remove(path)
		}
	}
}

// isRequest reports whether a file holds what a request is, whatever its name.
func isRequest(path string) bool {
	data, err := safefile.ReadOwn(path, maxRequest)
	return err == nil && (len(data) == 0 || strings.HasPrefix(string(data), requestBegin)) // or it was killed before it wrote anything
}

// inUse says whether the process that made a file is still there: it may wait for a limit, and then send the request again.
func inUse(name string) bool {
	text, _, named := strings.Cut(strings.TrimPrefix(name, requestFile), "-")
	pid, err := strconv.Atoi(text)
	if !named || err != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
