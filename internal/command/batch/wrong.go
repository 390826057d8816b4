package batch

import (
	"errors"
	"io/fs"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// wrongTasks is the error of tasks that cannot be run as they are.
func wrongTasks(name string, err error) error {
	_, isMistake := errors.AsType[*batch.Mistake](err)
	if _, ok := errors.AsType[*fs.PathError](err); ok && !isMistake {
		err = message.Error(message.BatchTasksUnreadable(name, err), err)
	}
	return command.Usage(err, "")
}

// wrongResults is the error of results that cannot be written.
func wrongResults(path string, err error) error {
	if _, ok := errors.AsType[*batch.InUse](err); ok {
		return command.Usage(err, message.See("belay batch status "+printable.Quoted(path)))
	}
	return command.Usage(message.Error(message.BatchUnwritable(path, err), err), "")
}

// pathless is an error without the path that the message has already.
func pathless(err error) error {
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return wrong.Err
	}
	return err
}
