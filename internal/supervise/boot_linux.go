package supervise

import (
	"os"
	"strings"
	"sync"
)

// bootID tells this run of the system from the last one, and this pid namespace from others: in a container the boot
// id is the host's, and so may be the directory with the records, but a pid means another process.
var bootID = sync.OnceValue(func() string {
	boot := unknownBoot
	if data, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil && len(data) > 8 {
		boot = string(data[:8])
	}
	space, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		space = unknownBoot
	}
	return boot + "-" + strings.Trim(space, "pid:[]")
})
