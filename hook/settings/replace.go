package settings

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// BackupSuffix is added to the name of a file for the copy that is made before it is changed.
const BackupSuffix = ".belay-backup"

// Replace puts after in the place of before, which must still be what the file holds. Whoever reads it meanwhile sees one
// or the other. A link is followed, and mode and owner stay. It makes a copy first; or, if the file becomes what the copy
// holds, it removes that.
func Replace(path string, before, after []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	backup := path + BackupSuffix
	kept, kerr := os.ReadFile(backup)
	restored := kerr == nil && bytes.Equal(kept, after)
	if !restored {
		if err := os.WriteFile(backup, before, info.Mode().Perm()); err != nil {
			return fmt.Errorf("no copy could be made: %w", err)
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, werr := tmp.Write(after)
	keepOwner(tmp, info)
	for _, e := range []error{werr, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close()} {
		if e != nil {
			return e
		}
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, before) {
		return fmt.Errorf("%s was changed by somebody else meanwhile; try again", path)
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	if restored {
		os.Remove(backup)
	}
	return nil
}
