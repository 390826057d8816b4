//go:build !unix

package main

import "time"

// childrenCPU is not known here.
func childrenCPU() time.Duration { return 0 }
