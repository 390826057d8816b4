// Package safefile opens files without trusting what is at their path.
//
// An open that trusts its path can be led elsewhere by a link, blocks on a named pipe, swallows what was meant for another
// process, reads without end or truncates a file of another program. There are three kinds of files, by who may have put
// something else in their place:
//
//   - Belay's own: [OpenOwn], [ReadOwn], [WriteOwn], [CreateOwn], and [OpenOwnDir] and [MakeOwnDir] for directories. They are
//     regular files of this user's with one name, and no link leads to them.
//   - The user's: [OpenUser], [ReadUser]. Links are followed, since dotfiles are often links. What they lead to is a regular
//     file of the user's or of root's.
//     A secret of the user's is read with [ReadSecret], if not all users can read it.
//   - A repository's: [OpenRepository], [ReadRepository]. Its authors decide what is in it, so no link is followed below its
//     root. The file belongs to the user, to root or to the owner of the root.
//
// [OpenRegular] is for files of other programs, such as the sessions of an agent's CLI: it only keeps the open from blocking.
// What the user names on the command line may be anything that can be opened, and is not for this package.
//
// No open waits, and every check is made on the file that was opened, before it is truncated, read or written. What is
// refused is an [*Error], which says what is there instead.
//
// On Windows owners and hard links are not checked, and a link that appears between the look and the open is noticed only
// afterwards.
package safefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Why a file is refused. An [*Error] unwraps to one of these.
var (
	ErrLink       = errors.New("symbolic link")
	ErrHardLink   = errors.New("hard link")
	ErrNotRegular = errors.New("not a regular file")
	ErrNotDir     = errors.New("not a directory")
	ErrOwner      = errors.New("file of another user")
	ErrTooLarge   = errors.New("file too large")
	ErrOutside    = errors.New("outside of the repository")
	ErrShared     = errors.New("file that other users can read or change")
)

// Error says why what is at a path is not used.
type Error struct {
	Path   string
	Reason string // as in "is a symbolic link"
	Err    error  // ErrLink and so on
}

func (e *Error) Error() string { return e.Path + " " + e.Reason }

// Unwrap returns the kind of the error.
func (e *Error) Unwrap() error { return e.Err }

// OpenUser opens a file of the user's for reading. Links are followed. It may belong to root as well, who decides on
// everything anyway.
func OpenUser(path string) (*os.File, error) {
	f, info, err := openRegular(path)
	if err == nil {
		err = ofThisHome(path, info, os.Geteuid(), rootUID)
	}
	return orClosed(f, err)
}

// IsUsers reports whether a file is there that belongs to the user or to root.
func IsUsers(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && ownedBy(path, info, os.Geteuid(), rootUID) == nil
}

// ReadUser reads a file of the user's, of at most limit bytes.
func ReadUser(path string, limit int64) ([]byte, error) {
	f, err := OpenUser(path)
	return readAll(f, err, path, limit)
}

// ReadSecret reads a file of the user's with a secret in it, of at most limit bytes. One that other users can read or change is refused; its group may read it, as
// that of Prometheus does.
func ReadSecret(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path)
	if err == nil {
		err = cmp.Or(ofThisHome(path, info, os.Geteuid(), rootUID), unshared(path, info, true))
	}
	f, err = orClosed(f, err)
	return readAll(f, err, path, limit)
}

// CheckSecret checks a file of passwords that another library reads, as libpq does: its group may not read it either, unless it is root's.
func CheckSecret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := regular(path, info); err != nil {
		return err
	}
	return unshared(path, info, false)
}

// OpenRepository opens a file of a repository for reading. The path must be below root, and nothing on the way from there,
// nor the file itself, may be a link; root itself may be reached by one.
func OpenRepository(root, path string) (*os.File, error) {
	f, owner, err := openBelow(root, path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = cmp.Or(regular(path, info), ownedBy(path, info, os.Geteuid(), rootUID, owner))
	}
	return orClosed(f, err)
}

// ReadRepository reads a file of a repository, of at most limit bytes.
func ReadRepository(root, path string, limit int64) ([]byte, error) {
	f, err := OpenRepository(root, path)
	return readAll(f, err, path, limit)
}

// OpenRegular opens a file of another program for reading. Links are followed, and it may belong to any user; but what is
// not a regular file is refused, and never waited for.
func OpenRegular(path string) (*os.File, error) {
	f, _, err := openRegular(path)
	return f, err
}

// ReadRegular reads a file of another program, of at most limit bytes.
func ReadRegular(path string, limit int64) ([]byte, error) {
	f, err := OpenRegular(path)
	return readAll(f, err, path, limit)
}

// openRegular opens a regular file where links lead.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
	f, info, err := open(path, os.O_RDONLY, true)
	if err == nil {
		err = regular(path, info)
	}
	f, err = orClosed(f, err)
	return f, info, err
}

// readAll reads and closes a file that was opened, unless err says that it was not.
func readAll(f *os.File, err error, path string, limit int64) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &Error{path, fmt.Sprintf("is larger than %s", size(limit)), ErrTooLarge}
	}
	return data, err
}

// size is a number of bytes in words.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
