//go:build !linux

package clitest

import (
	"errors"
	"runtime"
)

func runInside() (int, error) { return 0, errors.New(runtime.GOOS + " has none") }
