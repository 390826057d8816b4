//go:build !linux

package stream

import (
	"errors"
	"os"
)

// Streams are read by pumps: a thread cannot wait for a process and for pipes at once.

func openInline() (int, *os.File, error) { return -1, nil, errors.ErrUnsupported }
func inlineFile(int) *os.File            { return nil }
func closeInline(int)                    {}
func (u *pump) drainInline()             {}
func readUntilEnd(int, []*pump) bool     { return true }
