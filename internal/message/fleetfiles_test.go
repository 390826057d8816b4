package message_test

import (
	"errors"

	"github.com/belay-run/belay/internal/message"
)

// fleetFileMessages are those of files that other machines need.
func fleetFileMessages(say func(name, text string)) {
	const commit, repository = "5f70bf18a086007016e948b04aed3b82103a36be", "https://git.example.com/acme/site.git"
	say("FilesUnknown", message.FilesUnknown("--files", "rsync"))
	say("FilesNoGit", message.FilesNoGit())
	say("FilesGitFailed", message.FilesGitFailed("fetch", 128, "fatal: could not read from remote repository"))
	say("FilesGitFailed", message.FilesGitFailed("fetch", 143, ""))
	say("FilesNotGit", message.FilesNotGit("/home/kim/notes"))
	say("FilesNothingCommitted", message.FilesNothingCommitted("/home/kim/site"))
	say("FilesDirty", message.FilesDirty("/home/kim/site", "index.html", 0))
	say("FilesDirty", message.FilesDirty("/home/kim/site", "index.html", 3))
	say("FilesNotPushed", message.FilesNotPushed(commit, "origin"))
	say("FilesNotPushed", message.FilesNotPushed(commit, ""))
	say("FilesManyRemotes", message.FilesManyRemotes([]string{"mine", "theirs"}))
	say("FilesBadRepository", message.FilesBadRepository("ext::sh -c id"))
	say("FilesBadCommit", message.FilesBadCommit("main"))
	say("FilesNoSubDir", message.FilesNoSubDir("docs"))
	say("FilesNotAllowed", message.FilesNotAllowed(repository))
	say("FilesNoFetch", message.FilesNoFetch(repository, errors.New(message.FilesGitFailed("fetch", 128, "fatal: unable to access"))))
	say("FilesNoCommit", message.FilesNoCommit(commit, repository))
	say("FilesNoDir", message.FilesNoDir("/home/kim/site"))
	say("FilesTooLarge", message.FilesTooLarge("/home/kim/site", 32, 256, 50000))
	say("FilesLeftOut", message.FilesLeftOut("/home/kim/site", "current", 0))
	say("FilesLeftOut", message.FilesLeftOut("/home/kim/site", "current", 2))
	say("FilesArchivesNotAllowed", message.FilesArchivesNotAllowed())
	say("FilesNoArchive", message.FilesNoArchive())
	say("FilesBadArchive", message.FilesBadArchive(errors.New("gzip: invalid checksum")))
	say("FilesBadEntry", message.FilesBadEntry("/etc/passwd"))
	say("FilesArchiveTooLarge", message.FilesArchiveTooLarge())
}
