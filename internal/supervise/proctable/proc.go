// Package proctable reads the system's table of processes, and tells which run a process comes from.
//
// A [Proc] is a process as it was when it was looked at. [Walk] visits every process of the system, [Find] looks one up, and [Proc.Signal] signals
// exactly the process that was seen: a pid is reused, so a process is named by its pid and the time of its start ([Identity]). An [Owner] is such a
// name that also holds after a restart of the system, and in a container.
//
// The processes of a run carry two marks that their descendants inherit: [RunIDVar] in the environment ([Mark]), and on Linux a limit that no
// program changes ([MarkByLimit]). [Proc.Runs] reads both. A process that has wiped its environment still has the limit, which names only the innermost
// run; one that was started by another user, or before the mark was set, may have neither. The id of a run can itself name the process that owns it ([OwnedID]): then
// what a killed owner has left is found without a record of the run ([Proc.AbandonedIn]).
//
// Where /proc is not mounted, processes are found by trying pids, without marks and times. On macOS the environment of others cannot be read: there is a
// table and no marks. On Windows a job object holds what belongs to a run, so that Walk visits nothing; there a process that waits for it ([StopRequests])
// is asked to stop by an event, and any other one is ended.
package proctable

import "fmt"

// Proc is one process of the system.
type Proc struct {
	PID, PPID, PGID, SID int
	Start                uint64 // in the system's own unit; with PID it names a process for good; 0 if it is not known
	Name                 string
	Memory               int64 // that it uses, in bytes; 0 if it is not known

	zombie, kernel bool // ended and not reaped; a thread of the kernel
	childEnded     bool // a child of it may have ended
}

// Zombie reports whether the process has ended, and its parent has not taken notice.
func (p Proc) Zombie() bool { return p.zombie }

// ChildEnded reports whether a child of the process may have ended.
func (p Proc) ChildEnded() bool { return p.childEnded }

// Identity names a process for good: a pid alone is reused.
type Identity struct {
	PID   int
	Start uint64
}

// StartedBefore reports whether the process was certainly started before that time.
func (p Proc) StartedBefore(start uint64) bool { return p.Start > 0 && p.Start < start }

// Identity is the name of the process for good.
func (p Proc) Identity() Identity { return Identity{p.PID, p.Start} }

// String is the process as a person is told of it.
func (p Proc) String() string {
	if p.Name == "" { // it is not known
		return fmt.Sprint(p.PID)
	}
	return fmt.Sprintf("%d (%s)", p.PID, p.Name)
}

// unknownBoot stands for a boot id that cannot be had.
const unknownBoot = "0"
