package actions

import (
	"errors"
	"io"
	"os"
)

// AppendTo appends to a file that the user names, or the runner of a GitHub job; to none if the path is empty.
func AppendTo(path, text string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}
