package batch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
)

// scan reads all results of a file. It counts the lines that are none, and returns what is behind the last end of a line.
func scan(f io.ReaderAt, each func(offset int64, line []byte, r parsed)) (damaged int, tail []byte, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, math.MaxInt64), 256<<10)
	var offset int64
	for {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return damaged, line, nil
		case err != nil:
			return damaged, nil, err
		}
		if whole := bytes.TrimRight(line, "\r\n"); len(whole) > 0 {
			if r, ok := parseRecord(whole); ok {
				each(offset, whole, r)
			} else {
				damaged++
			}
		}
		offset += int64(len(line))
	}
}

// recordBegin is how a line of results begins.
const recordBegin = `{"task":"`

// isLedger reports whether a file holds results: whether it is empty, or has one before anything of another kind. isKnown says that a batch has
// left its journal beside it; then NUL bytes alone, or lines that only begin as results do, are what a power failure or another program has left of
// them.
func isLedger(f io.ReaderAt, isKnown bool) bool {
	const enough = 1 << 20 // that is damaged, before the first result
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, enough), 64<<10)
	blank, nuls := true, false
	more, _ := f.ReadAt(make([]byte, 1), enough)
	for {
		line, err := in.ReadSlice('\n')
		text := bytes.Trim(line, " \t\r\n\x00")
		isRecord := false
		if len(text) > 0 {
			_, isRecord = parseRecord(text)
		}
		switch {
		case isRecord && err == nil, errors.Is(err, bufio.ErrBufferFull) && isTorn(text) && bytes.Contains(text, []byte(`"state":"`)):
			return true
		case len(text) == 0:
			nuls = nuls || bytes.IndexByte(line, 0) >= 0
		case errors.Is(err, io.EOF):
			return more == 0 && (isRecord || blank && isTorn(text))
		case !bytes.HasPrefix(text, []byte(recordBegin)):
			return false
		default:
			blank = blank && isKnown && isTorn(text)
		}
		if err != nil {
			return errors.Is(err, io.EOF) && more == 0 && blank && (!nuls || isKnown)
		}
	}
}

// isTorn reports whether a line is the beginning of one that Belay has written, or what a power failure leaves of it. Anything else was written by
// another program, and is not cut.
func isTorn(line []byte) bool {
	text := string(bytes.Trim(line, "\x00"))
	if len(text) <= len(recordBegin) {
		return strings.HasPrefix(recordBegin, text)
	}
	rest, ok := strings.CutPrefix(text, recordBegin)
	if !ok {
		return false
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			rest = rest[i+1:]
			const hash, escaped = `,"hash":"`, `,"escaped":true,"hash":"`
			return strings.HasPrefix(rest, hash) || strings.HasPrefix(hash, rest) || strings.HasPrefix(rest, escaped) || strings.HasPrefix(escaped, rest)
		}
	}
	return true // in the middle of the id
}

// withoutCost is a line of results that says that the task has cost nothing.
func withoutCost(line []byte) []byte {
	const cost, index = `,"cost_usd":`, `,"index":`
	from := bytes.Index(line, []byte(cost)) + len(cost)
	to := bytes.Index(line, []byte(index))
	if from < len(cost) || to < from {
		return line // by another program, which had its own order
	}
	return append(append(bytes.Clone(line[:from]), '0'), line[to:]...)
}
