package supervise

// Excess is what a tree had too much of when it was ended for that.
type Excess struct {
	Disk    string // that has less free than it must have; empty if it was memory
	Value   int64  // bytes that were used, or free
	Limit   int64
	Largest []Use // of memory: the processes that used most, at most three
}

// Use is how much memory a process uses, in bytes.
type Use struct {
	Proc
	Memory int64
}
