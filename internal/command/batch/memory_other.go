//go:build !linux

package batch

// availableMemory is how many bytes processes can still take; 0 if that is not known.
func availableMemory() uint64 { return 0 }
