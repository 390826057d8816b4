package supervise

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

// self is this process as an owner.
func self() (Owner, error) {
	if err := checkProc(); err != nil {
		return Owner{}, err
	}
	p, err := process(os.Getpid())
	return Owner{Boot: bootID(), PID: os.Getpid(), Start: p.Start}, err
}

// Self is this process as an owner.
func Self() (Owner, error) { return self() }

// Dead reports whether the owner has certainly ended. One in another namespace, which cannot be seen, has not.
func (o Owner) Dead() bool {
	dead, _ := o.dead()
	return dead
}

// Alive reports whether the owner still runs. An owner in another namespace cannot be seen, and counts as not alive.
func (o Owner) Alive() bool { return o.Boot == bootID() && o.running() }

// dead reports whether the owner has certainly ended, and whether that is because the system has been restarted.
func (o Owner) dead() (dead, restarted bool) {
	if o.Boot == bootID() {
		return !o.running(), false
	}
	then, _, _ := strings.Cut(o.Boot, "-")
	now, _, _ := strings.Cut(bootID(), "-")
	restarted = then != now && then != unknownBoot && now != unknownBoot
	return restarted, restarted
}

// running reports whether the owner's process exists. In doubt it does: what counts as dead is ended.
func (o Owner) running() bool {
	p, err := process(o.PID)
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
	return Proc{PID: o.PID, Start: o.Start}.signal(syscall.SIGTERM)
}

// unknownBoot stands for a boot id that cannot be had.
const unknownBoot = "0"
