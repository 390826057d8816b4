package proctable

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// bootID tells this run of the system from the last one, and our namespaces from others. In a container the boot id is
// the host's, and so may be the directory with the records, but a pid means another process there; in another time
// namespace the start time of a process is another number.
func bootID() string { return thisBoot() }

var thisBoot = sync.OnceValue(func() string {
	boot := unknownBoot
	if data, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil && len(data) > 8 {
		boot = string(data[:8])
	}
	id := boot + "-" + namespace("self", "pid")
	if time := namespace("self", "time"); time != firstTimeSpace && time != unknownBoot {
		id += "-" + time
	}
	return id
})

// firstTimeSpace is the time namespace that every system begins with (PROC_TIME_INIT_INO). Hardly any process is in
// another one, so the name of a record has it only then, as earlier versions of Belay have it.
const firstTimeSpace = "4026531834"

// namespace is the number of a process's namespace of that kind: pid:[4026531836].
func namespace(process, kind string) string {
	link, err := os.Readlink("/proc/" + process + "/ns/" + kind)
	number, ok := strings.CutPrefix(link, kind+":[")
	if err != nil || !ok {
		return unknownBoot
	}
	return strings.TrimSuffix(number, "]")
}

// samePIDSpace reports whether pids mean to the process what they mean to us.
func samePIDSpace(q Proc) bool {
	space := namespace(strconv.Itoa(q.PID), "pid")
	return space != unknownBoot && space == namespace("self", "pid")
}
