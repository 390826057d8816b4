package message

import (
	"fmt"

	"github.com/belay-run/belay/internal/printable"
)

// FilesUnknown says that a value of --files is invalid.
func FilesUnknown(key, by string) string {
	return fmt.Sprintf("%s: %q is not one of path, git and archive", key, by)
}

// FilesGitFailed says that git has failed, and what it says.
func FilesGitFailed(command string, code int, said string) string {
	if said = printable.Line(said); said == "" {
		said = "no reason given"
	}
	return fmt.Sprintf("git %s ended with exit code %d: %s", command, code, said)
}

// FilesDirty says that a directory has changes that are in no commit.
func FilesDirty(dir, first string, more int) string {
	what := printable.Line(first)
	if more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s has changes that are not committed (%s); other machines would work without them. Commit and push them, or use --files archive", printable.Line(dir), what)
}

// FilesNotPushed says that other machines cannot get a commit.
func FilesNotPushed(commit, remote string) string {
	if remote == "" {
		return fmt.Sprintf("commit %.12s is on no branch and no tag, so other machines cannot fetch it. Create a branch for it first", commit)
	}
	return fmt.Sprintf("commit %.12s is on no branch of %s, as far as is known here. Push it, or use --files archive", commit, printable.Line(remote))
}

// FilesNoSubDir says that the files of a job have no such directory.
func FilesNoSubDir(dir string) string {
	return fmt.Sprintf("there is no directory %s in the files of the job", printable.Line(dir))
}

// FilesLeftOut says that something is not sent.
func FilesLeftOut(dir, first string, more int) string {
	what := printable.Line(first)
	if more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("links are not sent. Left out of %s: %s", printable.Line(dir), what)
}

// FilesNoArchive says that the files of a job are not there.
func FilesNoArchive() string { return "the files of the job are gone, or were changed" }

// FilesBadArchive says that an archive cannot be read.
func FilesBadArchive(err error) string {
	return fmt.Sprintf("the files of the job cannot be unpacked: %v", err)
}

// FilesBadEntry says that an archive has an entry that Belay never packs.
func FilesBadEntry(name string) string {
	return fmt.Sprintf("the files of the job cannot be unpacked: %s is not allowed", printable.Line(fmt.Sprintf("%.200q", name)))
}

// FilesArchiveTooLarge says that an archive has more in it than is unpacked.
func FilesArchiveTooLarge() string { return "the files of the job are too large to be unpacked" }
