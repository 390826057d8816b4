package supervise

// table is a snapshot of the system's processes.
type table []Proc

// below returns the living descendants of pid.
func (t table) below(pid int) []Proc {
	children := make(map[int][]Proc, len(t))
	for _, p := range t {
		children[p.PPID] = append(children[p.PPID], p)
	}
	var found []Proc
	for todo := []int{pid}; len(todo) > 0; todo = todo[1:] {
		for _, p := range children[todo[0]] {
			if p.PID == pid {
				continue
			}
			todo = append(todo, p.PID)
			if !p.zombie {
				found = append(found, p)
			}
		}
		delete(children, todo[0])
	}
	return found
}
