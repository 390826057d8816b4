package jobs

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/companion/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// notEncrypted is what stands in place of the key's fingerprint where jobs are not encrypted.
const notEncrypted = "plain"

// ofSubmitter begins the key file of a submitter.
const ofSubmitter = "belay-submitter"

// ReadKey reads a key file: 64 hexadecimal digits, or what [Key.Text] has made. A file of another user is refused.
func ReadKey(path string) (*Key, error) {
	data, err := safefile.ReadOwn(path, 1<<10)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(data))
	var s *Submitter
	if len(words) == 4 && words[0] == ofSubmitter {
		s = &Submitter{Name: words[1], ID: words[2]}
	}
	var secret []byte
	if len(words) == 1 || s != nil && s.valid() {
		secret, err = hex.DecodeString(words[len(words)-1])
	}
	if err != nil || len(secret) != keySize {
		return nil, message.Error(fmt.Sprintf("%s is not a key of a fleet, which has 64 hexadecimal digits, or of a submitter", path))
	}
	return newKey(secret, s)
}

// Text is the content of the key file of a submitter.
func (k *Key) Text() string {
	return strings.Join([]string{ofSubmitter, k.submitter.Name, k.submitter.ID, hex.EncodeToString(k.secret)}, " ") + "\n"
}

// Write writes the key file of a submitter, where there is none yet.
func (k *Key) Write(path string) error {
	f, err := safefile.CreateOwn(path)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(k.Text()))
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// MakeKey reads a key file, or makes it.
func MakeKey(path string) (k *Key, made bool, err error) {
	k, err = ReadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return k, false, err
	}
	secret := make([]byte, keySize)
	rand.Read(secret) // it never fails
	if err := safefile.MakeOwnDir(filepath.Dir(path)); err != nil {
		return nil, false, err
	}
	if err := atomicfile.Write(path, ".fleet-*", []byte(hex.EncodeToString(secret)+"\n")); err != nil {
		return nil, false, err
	}
	k, err = ReadKey(path)
	return k, true, err
}

// fingerprint tells keys apart, and says nothing of them.
func fingerprint(secret []byte) string {
	sum := sha256.Sum256(append([]byte("belay fleet key\x00"), secret...))
	return hex.EncodeToString(sum[:8])
}

// Settle notes with which key the jobs of the fleet are encrypted, or with k nil that they are not, the first time that it is called for a fleet.
// Later it says whether that is still so.
func Settle(ctx context.Context, s *store.Store, k *Key) error {
	mark := notEncrypted
	if k != nil {
		mark = k.mark
	}
	if k.OfSubmitter() {
		return k.check(ctx, s)
	}
	if _, err := s.Pool.Exec(ctx, "insert into belay.setting (name, value) values ('key', $1) on conflict do nothing", mark); err != nil {
		return s.Trouble(err)
	}
	return k.check(ctx, s)
}

// FindKey is the key of the fleet: the file at path, or none if there is no file and the fleet encrypts nothing.
func FindKey(ctx context.Context, s *store.Store, path string) (*Key, error) {
	k, err := ReadKey(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err = k.check(ctx, s); k == nil && errors.Is(err, ErrKey) {
		return nil, message.Error(fmt.Sprintf("the jobs of this fleet are encrypted, and there is no key in %s; copy it from a machine that has it", path), ErrKey)
	}
	return k, err
}

// check says whether it is the key of the fleet.
func (k *Key) check(ctx context.Context, s *store.Store) error {
	var mark string
	err := s.Pool.QueryRow(ctx, "select value from belay.setting where name = 'key'").Scan(&mark)
	if errors.Is(err, pgx.ErrNoRows) {
		mark, err = notEncrypted, nil
	}
	switch {
	case err != nil:
		return s.Trouble(err)
	case k == nil && mark != notEncrypted:
		return ErrKey
	case k != nil && mark == notEncrypted:
		return message.Error("this machine has a key, and the jobs of this fleet are not encrypted; name another file with BELAY_FLEET_KEY, or remove the key", ErrKey)
	case k.OfSubmitter():
		return k.checkSubmitter(ctx, s)
	case k != nil && mark != k.mark:
		return message.Error("the key on this machine is not the key of this fleet; copy it from a machine of the fleet", ErrKey)
	}
	return nil
}
