package clientfile

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// node is a value of a file and where it stands. Files are not decoded into other types: what is not changed must stay as it
// is to the byte.
type node struct {
	kind     byte // kindObject, kindList, kindText, or 0 for anything else
	from, to int  // of an object that is a TOML table from is -1: it may stand in several pieces
	text     string
	members  []member
	items    []*node
}

const (
	kindObject = '{'
	kindList   = '['
	kindText   = '"'
)

// member is a key of an object and its value.
type member struct {
	key   string
	value *node
	// from is where the key is written, with all of a dotted key of TOML.
	from int
	// keyFrom and keyTo are where the key itself is written, of a dotted one its last word. keyTo is 0 if a table of TOML has no
	// heading of its own.
	keyFrom, keyTo int
	// prefix is what stands on the line before the last word of a dotted key of TOML; inline says that the key stands in
	// braces.
	prefix string
	inline bool
}

// member is the member with that key, the last one if there are several, as for the clients; nil if there is none.
func (n *node) member(key string) (found *member) {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			found = &n.members[i]
		}
	}
	return found
}

// get is the value at the end of a path of keys; nil if there is none.
func (n *node) get(path ...string) *node {
	for _, key := range path {
		m := n.member(key)
		if m == nil {
			return nil
		}
		n = m.value
	}
	return n
}

// is reports whether there is a node, and of that kind.
func (n *node) is(kind byte) bool { return n != nil && n.kind == kind }

// string is the text of a member that is one, else "".
func (n *node) string(key string) string {
	if v := n.get(key); v.is(kindText) {
		return v.text
	}
	return ""
}

// texts are the items of a list of texts; an item that is no text is "".
func (n *node) texts() []string {
	if !n.is(kindList) {
		return nil
	}
	words := make([]string, len(n.items))
	for i, item := range n.items {
		words[i] = item.text
	}
	return words
}

// SyntaxError says what is wrong with a file, and where.
type SyntaxError struct {
	Line, Column int // from 1; the column in characters
	Reason       string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// wrong is the error for something at an offset.
func wrong(text []byte, offset int, what string) error {
	line, column := position(text, offset)
	return &SyntaxError{line, column, what}
}

// position returns line and column of an offset.
func position(text []byte, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[begin:]) + 1
}
