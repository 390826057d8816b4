package supervise

// MemoryLimits reports whether the memory of a tree can be watched: here a process does not tell it to another.
func MemoryLimits() bool { return false }

type meter struct{ p *Process }

func (m *meter) forget() {}

func (m *meter) read(int64) (int64, []Use) { return 0, nil }
