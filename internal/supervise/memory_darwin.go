package supervise

// MemoryLimits reports whether the memory of a tree can be watched: here a process does not tell it to another.
func MemoryLimits() bool { return false }

type meter struct{}

func (m *meter) memory(*tree, int64) (int64, []Proc) { return 0, nil }
