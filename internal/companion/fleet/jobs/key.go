package jobs

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// Key encrypts what jobs say and what comes of them. A nil key encrypts nothing.
type Key struct {
	aead cipher.AEAD
	mark string // its fingerprint
	// naming is the secret from which archives are named.
	naming []byte
}

// keySize is that of AES-256.
const keySize = 32

// What a payload begins with says how it is written.
const (
	plain  = 'p'
	sealed = '1' // AES-256-GCM: nonce, text
)

// ErrKey says that something was encrypted with another key, or with none.
var ErrKey = errors.New("another key")

// newKey makes a key from its bytes.
func newKey(secret []byte) (*Key, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	naming := hmac.New(sha256.New, secret)
	naming.Write([]byte("belay fleet archive"))
	return &Key{aead, fingerprint(secret), naming.Sum(nil)}, err
}

// seal encrypts a payload. It can be opened only as that of the same job.
func (k *Key) seal(data []byte, of ...string) ([]byte, error) {
	if k == nil {
		return append([]byte{plain}, data...), nil
	}
	out := make([]byte, 1+k.aead.NonceSize(), 1+k.aead.NonceSize()+len(data)+k.aead.Overhead())
	out[0] = sealed
	if _, err := rand.Read(out[1:]); err != nil {
		return nil, err
	}
	return k.aead.Seal(out, out[1:], data, about(of)), nil
}

// open decrypts a payload. Where there is a key, one that is not encrypted is refused: write access to the database must not be enough to have a
// machine run something.
func (k *Key) open(data []byte, of ...string) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, message.Error(message.FleetNoPayload(), ErrKey)
	case k == nil && data[0] == plain:
		return data[1:], nil
	case k == nil || data[0] != sealed || len(data) < 1+k.aead.NonceSize():
		return nil, message.Error(message.FleetOtherKey(), ErrKey)
	}
	data = data[1:]
	text, err := k.aead.Open(nil, data[:k.aead.NonceSize()], data[k.aead.NonceSize():], about(of))
	if err != nil {
		return nil, message.Error(message.FleetOtherKey(), ErrKey)
	}
	return text, nil
}

func about(of []string) []byte { return []byte(strings.Join(of, "\x00")) }
