package engine

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"time"
)

// NewID returns an id for something that has runs inside it, as they have themselves.
func NewID() string { return newID(time.Now()) }

// newID returns a UUIDv7: ids sort by time. They name things and guard nothing, so the runtime's own generator,
// seeded by the system, will do.
func newID(now time.Time) string {
	var u [16]byte
	binary.BigEndian.PutUint64(u[:8], uint64(now.UnixMilli())<<16|rand.Uint64()&0x0fff|0x7000)
	binary.BigEndian.PutUint64(u[8:], rand.Uint64()&^(3<<62)|2<<62)
	var s [36]byte
	hex.Encode(s[:8], u[:4])
	hex.Encode(s[9:13], u[4:6])
	hex.Encode(s[14:18], u[6:8])
	hex.Encode(s[19:23], u[8:10])
	hex.Encode(s[24:], u[10:])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}
