package proctable

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// Owner names the process that supervises a run.
type Owner struct {
	// Boot names the run of the system, and our namespaces of pids and of time: a container counts for itself.
	Boot  string `json:"boot"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// Self is this process as an owner.
func Self() (Owner, error) {
	if err := Check(); err != nil {
		return Owner{}, err
	}
	p, err := Find(os.Getpid())
	return Owner{Boot: bootID(), PID: os.Getpid(), Start: p.Start}, err
}

// Dead reports whether the owner has certainly ended. One in another namespace, which cannot be seen, has not.
func (o Owner) Dead() bool {
	if o.Boot == bootID() {
		return !o.running()
	}
	return o.Restarted()
}

// Restarted reports whether the system has certainly been restarted since the owner ran: nothing that it started can be left.
func (o Owner) Restarted() bool {
	then, _, _ := strings.Cut(o.Boot, "-")
	now, _, _ := strings.Cut(bootID(), "-")
	return then != now && then != unknownBoot && now != unknownBoot
}

// Alive reports whether the owner still runs. An owner in another namespace cannot be seen, and counts as not alive.
func (o Owner) Alive() bool { return o.Boot == bootID() && o.running() }

// running reports whether the owner's process exists. In doubt it does: what counts as dead is ended.
func (o Owner) running() bool {
	p, err := Find(o.PID)
	if err != nil {
		return !errors.Is(err, os.ErrProcessDone)
	}
	return p.Start == o.Start && !p.zombie
}

// Terminate asks the owner to stop, exactly that process: not another one that has got its pid meanwhile.
func (o Owner) Terminate() error {
	if o.Boot != bootID() {
		return os.ErrProcessDone
	}
	return Proc{PID: o.PID, Start: o.Start}.Signal(syscall.SIGTERM)
}
