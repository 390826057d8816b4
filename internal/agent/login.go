package agent

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// StoredLogin is the file in which a CLI keeps the login that a call uses. All processes of the account share it, and each of them may renew it.
// Belay finds out whether it has changed and when it expires; it keeps nothing of what is in it, and never writes it.
type StoredLogin struct {
	// Path is the file; empty if the call uses none, because a key or token of its environment counts. Where the CLI keeps the login in a keychain
	// instead, the file is missing or stays as it is, and nothing follows from it.
	Path string
	// Expires is when the login that a file has as its content expires; zero if that does not say.
	Expires func(content []byte) time.Time
}

// LoginState is what is known of a stored login at one moment. The zero value is that nothing is.
type LoginState struct {
	known   bool
	hash    [sha256.Size]byte // of the whole file; zero if there is none
	Expires time.Time
}

// maxLogin is more than any CLI has in such a file.
const maxLogin = 1 << 20

// Look reads the file. What cannot be read, or cannot be a login, is unknown.
func (l StoredLogin) Look() (s LoginState) {
	if l.Path == "" {
		return s
	}
	content, err := safefile.ReadRegular(l.Path, maxLogin)
	if err != nil {
		s.known = errors.Is(err, fs.ErrNotExist)
		return s
	}
	defer clear(content)
	return LoginState{known: true, hash: sha256.Sum256(content), Expires: l.Expires(content)}
}

// Replaced reports whether another login is there now.
func (s LoginState) Replaced(now LoginState) bool {
	return s.known && now.known && now.hash != s.hash && now.hash != LoginState{}.hash
}

// ExpiresAt reads a time in milliseconds, as JavaScript has it, from the member of a JSON object that these keys lead to.
func ExpiresAt(keys ...string) func(content []byte) time.Time {
	return func(content []byte) (at time.Time) {
		var ms float64
		if json.Unmarshal(Member(content, keys...), &ms) == nil && ms > 0 && ms < 1e14 {
			at = time.UnixMilli(int64(ms))
		}
		return at
	}
}

// Member is the member of a JSON object that these keys lead to; nil if there is none.
func Member(content []byte, keys ...string) []byte {
	for _, key := range keys {
		var object map[string]json.RawMessage
		if json.Unmarshal(content, &object) != nil {
			return nil
		}
		content = object[key]
	}
	return content
}
