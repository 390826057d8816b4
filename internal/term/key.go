package term

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Key is a key that was pressed: the character it stands for ("q", "ä"), or one of the names below.
type Key string

// Keys that stand for no character.
const (
	KeyUp       Key = "up"
	KeyDown     Key = "down"
	KeyLeft     Key = "left"
	KeyRight    Key = "right"
	KeyPageUp   Key = "page up"
	KeyPageDown Key = "page down"
	KeyHome     Key = "home"
	KeyEnd      Key = "end"
	KeyEnter    Key = "enter"
	KeyTab      Key = "tab"
	KeyBackTab  Key = "shift-tab"
	KeyEscape   Key = "escape"
	KeyCtrlC    Key = "ctrl-c"
	KeyCtrlL    Key = "ctrl-l"

	keyCtrlZ Key = "ctrl-z" // never told: it stops us
)

// sequenceKey is the key for which a terminal sends ESC [ or ESC O and this; empty if it means nothing here.
func sequenceKey(sent string) Key {
	switch sent {
	case "A":
		return KeyUp
	case "B":
		return KeyDown
	case "C":
		return KeyRight
	case "D":
		return KeyLeft
	case "H", "1~", "7~":
		return KeyHome
	case "F", "4~", "8~":
		return KeyEnd
	case "5~":
		return KeyPageUp
	case "6~":
		return KeyPageDown
	case "Z":
		return KeyBackTab
	}
	return ""
}

// controlKey is the key that sends a control character; empty if it means nothing here.
func controlKey(sent byte) Key {
	switch sent {
	case '\r', '\n':
		return KeyEnter
	case '\t':
		return KeyTab
	case 0x03:
		return KeyCtrlC
	case 0x0c:
		return KeyCtrlL
	case 0x1a:
		return keyCtrlZ
	}
	return ""
}

// maxSequence is how long a sequence may get before it is taken for garbage.
const maxSequence = 64

// What a terminal sends around a text that is pasted, if it was asked to.
var pasteBegin, pasteEnd = []byte("\x1b[200~"), []byte("\x1b[201~")

// keyboard makes keys of what a terminal sends. A text that is pasted is no key: the letters in it would be taken for commands.
type keyboard struct {
	pending []byte // the beginning of a sequence
	pasting bool
}

// feed returns the keys that are complete with what was read.
func (k *keyboard) feed(data []byte) (keys []Key) {
	k.pending = append(k.pending, data...)
	for len(k.pending) > 0 {
		n, key := k.next()
		if n == 0 {
			break
		}
		k.pending = k.pending[n:]
		if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// flush returns the key that is complete if nothing more comes: ESC is the beginning of most sequences, and a key.
func (k *keyboard) flush() (keys []Key) {
	if len(k.pending) == 1 && k.pending[0] == 0x1b && !k.pasting {
		keys = []Key{KeyEscape}
	}
	k.pending = nil
	return keys
}

// next is the length of what comes first, 0 if it is not complete, and the key that it is, if it is one.
func (k *keyboard) next() (n int, key Key) {
	p := k.pending
	if k.pasting {
		end := bytes.Index(p, pasteEnd)
		if end < 0 {
			return max(0, len(p)-len(pasteEnd)+1), "" // the rest may be the beginning of the end
		}
		k.pasting = false
		return end + len(pasteEnd), ""
	}
	switch {
	case p[0] == 0x1b:
		return k.sequence()
	case p[0] < ' ' || p[0] == 0x7f:
		return 1, controlKey(p[0])
	}
	r, size := utf8.DecodeRune(p)
	if r == utf8.RuneError {
		if !utf8.FullRune(p) {
			return 0, ""
		}
		return size, ""
	}
	if !unicode.IsPrint(r) {
		return size, ""
	}
	return size, Key(p[:size])
}

// sequence reads what begins with ESC.
func (k *keyboard) sequence() (n int, key Key) {
	p := k.pending
	if len(p) < 2 {
		return 0, ""
	}
	if p[1] != '[' && p[1] != 'O' { // Alt and a key, which means nothing here
		if p[1] == 0x1b {
			return 1, KeyEscape
		}
		return 2, ""
	}
	for n = 2; n < len(p); n++ {
		if c := p[n]; c >= '@' && c <= '~' {
			n++
			k.pasting = bytes.Equal(p[:n], pasteBegin)
			return n, sequenceKey(string(p[2:n]))
		} else if c < ' ' || c > '?' || n > maxSequence {
			return n, ""
		}
	}
	return 0, ""
}
