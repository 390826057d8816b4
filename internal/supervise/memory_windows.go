package supervise

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// MemoryLimits reports whether the memory of a tree can be watched.
func MemoryLimits() bool { return true }

type meter struct{}

// memory is the most memory that the job has had at a time. The system does not tell what it has now, nor what each process has: those are only named.
func (m *meter) memory(t *tree, _ int64) (int64, []Proc) {
	t.mu.Lock()
	j := t.handle.job
	t.mu.Unlock()
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if j == 0 || windows.QueryInformationJobObject(windows.Handle(j), windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil) != nil {
		return 0, nil
	}
	return int64(info.PeakJobMemoryUsed), j.members()
}
