package view

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
)

// launchLimit is how long a batch may take until it is under way: its tasks are read before, and there may be a million.
const launchLimit = time.Minute

// RetryBatch runs the failed tasks of the batch with these results again, by the command on record, and returns what to say of it. The batch goes on
// by itself, whatever becomes of us.
func (s *Source) RetryBatch(results string) (string, error) {
	list, err := s.Registry().List()
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(list, func(e batch.Entry) bool { return e.Results == results })
	if i < 0 {
		return "", message.Error("no such batch, or its results are gone")
	}
	e := list[i]
	status, err := batch.ReadStatus(e.Results)
	if err != nil {
		return "", err
	}
	if err := s.canRetry(e, status); err != nil {
		return "", err
	}
	name := filepath.Base(e.Results)
	got, err := supervise.Launch(launchLimit, e.Dir, s.Belay, append([]string{s.Belay, "batch", "--detach"}, e.Again...))
	switch {
	case err != nil:
		return "", message.Error(message.BatchRetryFailed(name, err.Error()), err)
	case got.Code != 0:
		return "", message.Error(message.BatchRetryFailed(name, firstLine(got.Stderr)))
	}
	id := firstLine(got.Stdout)
	return message.BatchRetrying(name, status.Failed, id[max(0, len(id)-8):]), nil
}

// canRetry says why the failed tasks of a batch cannot be run again from here; nil if they can.
func (s *Source) canRetry(e batch.Entry, status *batch.Status) error {
	info, err := os.Stat(e.Dir)
	switch {
	case status.Holder != nil:
		return message.Error("this batch is still running. Its failed tasks can be run again when it has ended")
	case status.Failed == 0:
		return message.Error("no task of this batch has failed")
	case len(e.Again) == 0 || s.Belay == "":
		return message.Error("the command of this batch is not on record. Run it in a terminal, with --retry-failed")
	case err != nil || !info.IsDir():
		return message.Error(fmt.Sprintf("%s, where this batch was run, is gone", e.Dir))
	}
	return nil
}

// firstLine is the first line that a command has printed, without the name that belay puts before its messages.
func firstLine(text []byte) string {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(printable.Line(strings.TrimSpace(line))); line != "" {
			return strings.TrimPrefix(line, "belay: ")
		}
	}
	return ""
}
