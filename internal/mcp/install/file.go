package install

import "github.com/belay-run/belay/internal/dotfile"

// Backup is what the name of the copy ends in that Replace leaves.
const Backup = dotfile.BackupSuffix

// Replace makes after of a file that is before, in one step and with the same mode and owner, and leaves a copy of what it
// was. A file that has changed meanwhile is left alone. Links are followed; but none below repository, if the file
// came with one.
func Replace(repository, path string, before, after []byte) error {
	f, err := dotfile.Open(repository, path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Backup(before); err != nil {
		return err
	}
	return f.Replace(before, after)
}
