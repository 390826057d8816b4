package jobs

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// Key encrypts what jobs say and what comes of them. A nil key encrypts nothing.
//
// Workers have the fleet's key. A submitter may have one of its own, which is derived from the fleet's, so that workers need nothing else to read its jobs: see [Submitter].
type Key struct {
	secret []byte
	aead   cipher.AEAD
	mark   string // its fingerprint
	// naming is the secret from which archives are named.
	naming []byte
	// submitter has this key; nil for the fleet's own.
	submitter *Submitter
	// prefix is what all that is sealed with it begins with.
	prefix []byte
}

// keySize is the size of a key for AES-256.
const keySize = 32

// What a payload begins with says how it is written.
const (
	plain  = 'p'
	sealed = '1' // AES-256-GCM: nonce, text
	// bySubmitter is the same with the key of a submitter, who is named before the nonce: length and text of the id, and of the name.
	bySubmitter = '2'
)

// ErrKey says that something was encrypted with another key, or with none.
var ErrKey = errors.New("another key")

// newKey makes a key from its bytes: that of a submitter, or with nil the fleet's.
func newKey(secret []byte, s *Submitter) (*Key, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	naming := hmac.New(sha256.New, secret)
	naming.Write([]byte("belay fleet archive"))
	k := &Key{secret: secret, aead: aead, mark: fingerprint(secret), naming: naming.Sum(nil), submitter: s, prefix: []byte{sealed}}
	if s != nil {
		k.prefix = slices.Concat([]byte{bySubmitter, byte(len(s.ID))}, []byte(s.ID), []byte{byte(len(s.Name))}, []byte(s.Name))
	}
	return k, err
}

// derive makes a secret of the fleet's key, for one purpose.
func (k *Key) derive(purpose ...string) ([]byte, error) {
	return hkdf.Key(sha256.New, k.secret, nil, "belay fleet\x00"+strings.Join(purpose, "\x00"), keySize)
}

// ofSubmitter is the key of a submitter.
func (k *Key) ofSubmitter(s *Submitter) (*Key, error) {
	secret, err := k.derive("submitter", s.ID, s.Name)
	if err != nil {
		return nil, err
	}
	return newKey(secret, s)
}

// keyOf is the key with which a payload claims to be sealed: the fleet's, or that of a submitter. What comes of the job is sealed with it too.
func (k *Key) keyOf(data []byte) (*Key, error) {
	if k == nil || len(data) == 0 || data[0] != bySubmitter {
		return k, nil
	}
	var texts [2]string
	data = data[1:]
	for i := range texts {
		if len(data) == 0 || len(data) <= int(data[0]) {
			return nil, message.Error(message.FleetOtherKey(), ErrKey)
		}
		texts[i], data = string(data[1:1+data[0]]), data[1+data[0]:]
	}
	s := &Submitter{ID: texts[0], Name: texts[1]}
	if !s.valid() {
		return nil, message.Error(message.FleetOtherKey(), ErrKey)
	}
	return k.ofSubmitter(s)
}

// seal encrypts a payload. It can be opened only as that of the same job.
func (k *Key) seal(data []byte, of ...string) ([]byte, error) {
	if k == nil {
		return append([]byte{plain}, data...), nil
	}
	start, end := len(k.prefix), len(k.prefix)+k.aead.NonceSize()
	out := make([]byte, end, end+len(data)+k.aead.Overhead())
	copy(out, k.prefix)
	if _, err := rand.Read(out[start:]); err != nil {
		return nil, err
	}
	return k.aead.Seal(out, out[start:], data, k.about(of)), nil
}

// open decrypts a payload that was sealed with this key. Where there is a key, one that is not encrypted is refused: write access to the database must not be enough to have a
// machine run something.
func (k *Key) open(data []byte, of ...string) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, message.Error(message.FleetNoPayload(), ErrKey)
	case k == nil && data[0] == plain:
		return data[1:], nil
	case k == nil || !bytes.HasPrefix(data, k.prefix) || len(data) < len(k.prefix)+k.aead.NonceSize():
		return nil, message.Error(message.FleetOtherKey(), ErrKey)
	}
	data = data[len(k.prefix):]
	text, err := k.aead.Open(nil, data[:k.aead.NonceSize()], data[k.aead.NonceSize():], k.about(of))
	if err != nil {
		return nil, message.Error(message.FleetOtherKey(), ErrKey)
	}
	return text, nil
}

// about is what is authenticated beside a payload.
func (k *Key) about(of []string) []byte {
	text := []byte(strings.Join(of, "\x00"))
	if k.submitter != nil {
		text = slices.Concat(k.prefix, text)
	}
	return text
}

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
