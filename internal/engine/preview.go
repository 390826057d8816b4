package engine

import (
	"slices"
	"time"

	"github.com/belay-run/belay/retry"
)

// Preview is what an invocation would do, as far as that can be known before it has begun.
type Preview struct {
	// Args is how the command would be started, and Env are settings in addition to its environment.
	Args, Env []string
	// Unknown is the option that keeps the command line from being added to; empty if there is none.
	Unknown string
	// Session is the one that would be resumed; empty for none.
	Session string
	// Gate is the key of the gate that it would take part in; empty for none.
	Gate string
	// Policy is what is in force, the profile's own idea included.
	Policy retry.Policy
	// Deadline is how long an attempt may take, Stall how long it may show no life, and ToolStall while one of its tools
	// runs; 0 means no limit.
	Deadline, Stall, ToolStall time.Duration
}

// Preview asks the profile how the first attempt would be started. Nothing is started, written or read from stdin. It is
// asked before [Invocation.Run], in its place. The error says why it could not be started.
func (inv *Invocation) Preview() (Preview, error) {
	p := Preview{Args: inv.command.Args, Gate: inv.runner.gateKey(), Policy: inv.policy, Deadline: inv.deadline(),
		Stall: inv.stall(false), ToolStall: inv.stall(true)}
	if inv.calls != nil && inv.mayRepeat() {
		p.Env = inv.calls.caller.Listen().Env()
	}
	if inv.talk == nil {
		return p, nil
	}
	turn := inv.talk.turn
	if turn.Session == LastSession {
		dir := inv.runner.StateDir
		if dir == "" {
			dir, _ = DefaultStateDir() // without one there is no session on record
		}
		last, _ := (&State{Dir: dir}).LastSession(inv.profile.Name(), inv.dir())
		turn.Session = last.ID
	}
	plan, err := inv.talk.agent.Plan(turn)
	if err != nil {
		return p, err
	}
	p.Args, p.Env, p.Session, p.Unknown = slices.Clone(plan.Args), plan.Env, turn.Session, inv.talk.traits.Unknown
	return p, nil
}
