package batch

import (
	"errors"
	"fmt"
	"os"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
)

// makeOutputDir makes the directory for outputs, if there is to be one, and finds out whether it can be written to.
func (o *batchOptions) makeOutputDir(tasks string) error {
	dir := o.outputDir
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
		return command.Usage(message.Error(fmt.Sprintf("cannot write outputs to %s: %v", dir, pathless(err)), err), "")
	}
	return nil
}
