//go:build !linux

package input

import (
	"errors"
	"os"
)

// pipeCapacity says that no pipe is known to take anything without a reader.
const pipeCapacity = -1

func filledPipe(string) (*os.File, error) { return nil, errors.ErrUnsupported }
