package message

import (
	"errors"
	"fmt"
	"io/fs"
)

// NoRecord says that a run is not recorded. without is what it therefore runs without.
func NoRecord(without []string, err error) string {
	if len(without) > 0 {
		return fmt.Sprintf("this run is not recorded and runs without %s: %v", And(without), err)
	}
	return fmt.Sprintf("this run is not recorded: %v", err)
}

// ResultNotWritten says that the result could not be written.
func ResultNotWritten(to string, err error) string {
	return fmt.Sprintf("cannot write the result to %s: %v", to, err)
}

// NotPrinted says that what a command prints did not arrive on stdout.
func NotPrinted(err error) string {
	if wrote, ok := errors.AsType[*fs.PathError](err); ok { // whose path is only a name for it
		err = wrote.Err
	}
	return fmt.Sprintf("cannot write to stdout: %v", err)
}
