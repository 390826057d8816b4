package settings

import "github.com/belay-run/belay/internal/dotfile"

// BackupSuffix is added to the name of a file for the copy that is made before it is changed.
const BackupSuffix = dotfile.BackupSuffix

// Replace puts after in the place of before, which must still be what the file holds. A reader sees one or the other, and
// mode and owner stay. It makes a copy first; or, if the file becomes what the copy holds, it removes that. Links are
// followed as by [Read].
func Replace(repository, path string, before, after []byte) error {
	f, err := dotfile.Open(repository, path)
	if err != nil {
		return err
	}
	defer f.Close()
	restored := f.HasBackup(after)
	if !restored {
		if err := f.Backup(before); err != nil {
			return err
		}
	}
	if err := f.Replace(before, after); err != nil {
		return err
	}
	if restored {
		f.RemoveBackup()
	}
	return nil
}
