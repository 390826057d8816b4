package supervise

import (
	"bytes"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// MemoryLimits reports whether the memory of a tree can be watched.
func MemoryLimits() bool { return proctable.Check() == nil }

// fullLooks is how many looks there are to one that looks at all processes of the system anew.
const fullLooks = 30

// meter measures the memory of a tree. To look at every process of the system each second would cost more than the rest of Belay: it leaves out those that
// it has found to be strangers.
type meter struct {
	strangers map[int]bool
	looks     int
}

// memory is how much memory the tree uses, in all and by process. What several of its processes share is counted once if the sum comes near the limit, and else for
// each: to find out costs a hundred times as much.
func (m *meter) memory(t *tree, limit int64) (sum int64, procs []Proc) {
	procs = m.members(t)
	var system unix.Sysinfo_t
	swapped := unix.Sysinfo(&system) == nil && system.Freeswap < system.Totalswap
	for i, q := range procs {
		if swapped {
			swap, _ := kibibytes(q.PID, "status", "VmSwap")
			procs[i].Memory += swap
		}
		sum += procs[i].Memory
	}
	if sum <= limit/5*4 {
		return sum, procs
	}
	// What ever more processes map while they are looked at one by one adds up to too much: what is above the limit is looked at once more.
	for range 2 {
		sum = 0
		for i := range procs {
			procs[i].Memory = proportionalSize(procs[i].PID)
			sum += procs[i].Memory
		}
		if sum <= limit {
			break
		}
	}
	return sum, procs
}

// members are the processes of the tree.
func (m *meter) members(t *tree) []Proc {
	if m.looks++; m.looks%fullLooks == 0 {
		m.strangers = nil
	}
	strangers := make(map[int]bool, len(m.strangers)+16)
	members := t.findMembers(func(visit func(Proc)) error {
		pids, err := proctable.PIDs()
		for _, pid := range pids {
			if strangers[pid] = true; m.strangers[pid] {
				continue
			}
			if q, err := proctable.Find(pid); err == nil {
				visit(q)
			}
		}
		return err
	}, func(Proc) {})
	for _, q := range members {
		delete(strangers, q.PID)
	}
	m.strangers = strangers
	t.know(members)
	if root, err := proctable.Find(t.pid); err == nil && !t.ended() {
		members = append(members, root)
	}
	return members
}

// proportionalSize is how much memory a process has with its part of what is shared, and with what was swapped out. Files of a disk that are mapped do not
// count, as the system takes that back by itself; a kernel before 5.3 does not tell them apart. Of another user's process, which does not tell, it is what is
// certainly its own.
func proportionalSize(pid int) int64 {
	for _, in := range [][]string{{"smaps_rollup", "Pss_Anon", "Pss_Shmem", "SwapPss"}, {"smaps_rollup", "Pss", "SwapPss"}, {"status", "RssAnon", "VmSwap"}} {
		if sum, told := kibibytes(pid, in[0], in[1:]...); told {
			return sum
		}
	}
	return 0
}

// kibibytes adds up what a file of a process tells, in bytes. It reports whether the first name is among it.
func kibibytes(pid int, file string, names ...string) (sum int64, told bool) {
	data, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	for line := range bytes.Lines(data) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		if i := slices.Index(names, string(name)); i >= 0 {
			kib, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			sum += kib << 10
			told = told || i == 0
		}
	}
	return sum, told
}
