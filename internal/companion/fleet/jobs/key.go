package jobs

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
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
