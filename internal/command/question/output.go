package question

import (
	"errors"
	"io/fs"

	"github.com/belay-run/belay/internal/atomicfile"
)

// ReplaceFile replaces the file of --output as a whole. Until then it has a name that no collector of metrics takes for one of its files.
func ReplaceFile(path string, data []byte, mode fs.FileMode) error {
	f, err := atomicfile.Create(path, ".belay-output-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode)); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}
