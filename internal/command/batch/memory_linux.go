package batch

import (
	"bytes"
	"os"
	"strconv"
)

// availableMemory is how many bytes processes can still take; 0 if that is not known.
func availableMemory() uint64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, after, ok := bytes.Cut(data, []byte("MemAvailable:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	kib, err := strconv.ParseUint(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(line), []byte("kB")))), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
