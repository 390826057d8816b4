package supervise

import (
	"bytes"
	"os"
	"strconv"
)

// MemoryLimits reports whether the memory of a tree can be watched.
func MemoryLimits() bool { return !noProc() }

// fullLooks is how many looks there are to one that looks at all processes of the system anew.
const fullLooks = 30

// meter measures the memory of a tree. To look at every process of the system each second would cost more than the rest of Belay: it looks at those that are new,
// and at the members it knows.
type meter struct {
	p     *Process
	known map[int]*seen
	looks int
}

// seen is a process that was looked at.
type seen struct {
	Proc
	member bool
}

// forget makes the next look one at all processes.
func (m *meter) forget() { m.known = nil }

// read is how much memory the tree uses, in all and by process. What several of its processes share is counted once if the sum is above a bound, and else for
// each: to find out costs a hundred times as much.
func (m *meter) read(bound int64) (sum int64, uses []Use) {
	if m.looks++; m.looks%fullLooks == 0 {
		m.forget()
	}
	uses = m.members()
	for i := range uses {
		uses[i].Memory, _ = residentSize(uses[i].PID)
		sum += uses[i].Memory
	}
	if sum <= bound {
		return sum, uses
	}
	sum = 0
	for i := range uses {
		uses[i].Memory = proportionalSize(uses[i].PID)
		sum += uses[i].Memory
	}
	return sum, uses
}

// members are the processes of the tree.
func (m *meter) members() (uses []Use) {
	known := make(map[int]*seen, len(m.known)+16)
	members := m.p.findMembers(func(visit func(Proc)) error {
		dir, err := os.Open("/proc")
		if err != nil {
			return err
		}
		names, err := dir.Readdirnames(-1)
		dir.Close()
		for _, name := range names {
			pid, perr := strconv.Atoi(name)
			if perr != nil {
				continue
			}
			s, ok := m.known[pid]
			if !ok {
				q, err := process(pid)
				if err != nil {
					continue
				}
				s = &seen{Proc: q}
			}
			if known[pid] = s; !ok || s.member {
				visit(s.Proc)
			}
		}
		return err
	}, func(Proc) {})
	m.known = known
	if root, err := process(m.p.pid); err == nil && !m.p.ended() {
		uses = append(uses, Use{Proc: root})
	}
	m.p.knownMembers = make(map[identity]Proc, len(members)) // later there may be no other way to find them
	for _, q := range members {
		known[q.PID].member = true
		m.p.knownMembers[q.identity()] = q
		uses = append(uses, Use{Proc: q})
	}
	return uses
}

// residentSize is how much memory a process has, and how much of that is not its own alone.
func residentSize(pid int) (all, shared int64) {
	var buf [128]byte
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	n, _ := f.Read(buf[:])
	if field := bytes.Fields(buf[:n]); len(field) > 2 {
		all, _ = strconv.ParseInt(string(field[1]), 10, 64)
		shared, _ = strconv.ParseInt(string(field[2]), 10, 64)
	}
	page := int64(os.Getpagesize())
	return all * page, shared * page
}

// proportionalSize is the same with each process's part of what is shared, and with what was swapped out. Of another user's process, which does not tell, it is what is
// certainly its own.
func proportionalSize(pid int) (sum int64) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil || len(data) == 0 {
		all, shared := residentSize(pid)
		return all - shared
	}
	for line := range bytes.Lines(data) {
		if name, rest, _ := bytes.Cut(line, []byte(":")); string(name) == "Pss" || string(name) == "SwapPss" {
			kib, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte(" kB"))), 10, 64)
			sum += kib << 10
		}
	}
	return sum
}
