package message

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// FilesUnknown says that a value of --files is invalid.
func FilesUnknown(key, by string) string {
	return fmt.Sprintf("%s: %q is not one of path, git and archive", key, by)
}

// FilesNoGit says that git is missing.
func FilesNoGit() string { return "git was not found" }

// FilesGitFailed says that git has failed, and what it says.
func FilesGitFailed(command string, code int, said string) string {
	if said = printable.Line(said); said == "" {
		said = "no reason given"
	}
	return fmt.Sprintf("git %s ended with exit code %d: %s", command, code, said)
}

// FilesNotGit says that a directory is in no git work tree.
func FilesNotGit(dir string) string {
	return fmt.Sprintf("%s is not in a git work tree, which --files git needs. --files archive sends any directory", printable.Line(dir))
}

// FilesNothingCommitted says that a repository has no commit.
func FilesNothingCommitted(dir string) string {
	return fmt.Sprintf("%s has no commit yet", printable.Line(dir))
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

// FilesManyRemotes says that it is not known which remote has the commit.
func FilesManyRemotes(names []string) string {
	return fmt.Sprintf("there are several remotes (%s), and none is origin or that of this branch. Choose one with: git branch --set-upstream-to=REMOTE/BRANCH", printable.Line(strings.Join(names, ", ")))
}

// FilesBadRepository says that the name of a repository cannot be used.
func FilesBadRepository(text string) string {
	return fmt.Sprintf("%s is not a repository that can be used here: it has to be an https or ssh URL without a password, user@host:path, or an absolute path", printable.Line(text))
}

// FilesBadCommit says that the name of a commit cannot be used.
func FilesBadCommit(text string) string {
	return fmt.Sprintf("%s is not the full name of a commit", printable.Line(fmt.Sprintf("%.80q", text)))
}

// FilesNoSubDir says that the files of a job have no such directory.
func FilesNoSubDir(dir string) string {
	return fmt.Sprintf("there is no directory %s in the files of the job", printable.Line(dir))
}

// FilesNotAllowed says that the machine lets no job work on a repository.
func FilesNotAllowed(repository string) string {
	return fmt.Sprintf("%s is not a repository that jobs may use here (allow in [fleet])", printable.Line(repository))
}

// FilesNoFetch says that a repository cannot be fetched.
func FilesNoFetch(repository string, err error) string {
	return fmt.Sprintf("cannot fetch %s: %v", printable.Line(repository), err)
}

// FilesNoCommit says that a repository has no such commit.
func FilesNoCommit(commit, repository string) string {
	return fmt.Sprintf("commit %.12s is on no branch and no tag of %s. Push it first", commit, printable.Line(repository))
}

// FilesNoDir says that a path is not a directory.
func FilesNoDir(path string) string {
	return fmt.Sprintf("%s is not a directory", printable.Line(path))
}

// FilesTooLarge says that a directory cannot be sent.
func FilesTooLarge(dir string, packed, unpacked, entries int) string {
	return fmt.Sprintf("%s is too large for an archive, which has at most %d MiB, %d MiB unpacked, and %d files. Use --files git or a shared path", printable.Line(dir), packed, unpacked, entries)
}

// FilesLeftOut says that something is not sent.
func FilesLeftOut(dir, first string, more int) string {
	what := printable.Line(first)
	if more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("links are not sent. Left out of %s: %s", printable.Line(dir), what)
}

// FilesArchivesNotAllowed says that the machine takes no files from others.
func FilesArchivesNotAllowed() string {
	return `jobs may not bring files with them here ("archive" in allow of [fleet])`
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
