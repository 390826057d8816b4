package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Backup is what the name of the copy ends in that Replace leaves.
const Backup = ".belay-backup"

// Replace makes after of a file that is before, in one step and with the same permissions, and leaves a copy of what it
// was. A file that somebody else has changed meanwhile is left alone.
func Replace(path string, before, after []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := write(path+Backup, before, info.Mode().Perm()); err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return errors.Join(errors.New("somebody has changed it meanwhile; try again"), err)
	}
	return write(path, after, info.Mode().Perm())
}

func write(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
