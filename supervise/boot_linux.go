package supervise

import (
	"os"
	"strings"
	"sync"
)

// bootID tells this run of the system from the last one. In a container it is the host's.
var bootID = sync.OnceValue(func() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(data) < 8 {
		return "0"
	}
	return strings.ReplaceAll(string(data[:8]), ".", "-")
})
