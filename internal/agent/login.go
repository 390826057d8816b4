package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
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
	// Expires are the keys that lead to the time at which it expires, in the JSON of the file.
	Expires []string
}

// LoginState is what is known of a stored login at one moment. The zero value is that nothing is.
type LoginState struct {
	hash    [sha256.Size]byte // of the whole file, or of nothing if there is none
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
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s
	}
	defer clear(content)
	return LoginState{hash: sha256.Sum256(content), Expires: expires(content, l.Expires)}
}

// Replaced reports whether another login is there now.
func (s LoginState) Replaced(now LoginState) bool {
	unknown, none := LoginState{}.hash, sha256.Sum256(nil)
	return s.hash != unknown && now.hash != unknown && now.hash != none && now.hash != s.hash
}

// expires is when a login expires: a time in milliseconds, as JavaScript has it, or that of a JWT, which says so itself in seconds. Zero if the keys
// lead to neither.
func expires(content []byte, keys []string) time.Time {
	for _, key := range keys {
		var object map[string]json.RawMessage
		json.Unmarshal(content, &object) // what is no object has no members
		content = object[key]
	}
	if parts := bytes.Split(content, []byte(".")); len(parts) == 3 {
		claims, _ := base64.RawURLEncoding.AppendDecode(nil, parts[1])
		return expires(claims, []string{"exp"})
	}
	n := Number(content)
	if n >= 1e11 {
		n /= 1000
	}
	return Epoch(n)
}
