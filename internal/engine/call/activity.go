package call

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/verdict"
)

// Activity is what an agent is doing, and what the run has used so far.
type Activity struct {
	Doing agent.Doing
	// Tool is the tool that it uses; empty if it uses none, or it is not known which.
	Tool string
	// Retrying says that it is about to try again by itself: at Until, or, if that is zero, it has not said when.
	Retrying bool
	Until    time.Time
	// Delivered says that its result is there, Waiting that it waits for its caller.
	Delivered, Waiting bool
	// Begun says that it has just begun to do that, or has written it, where its CLI would show that on stderr.
	Begun bool
	// Used is what all attempts have used as far as they have told.
	Used verdict.Usage
	// Filled is the fullest window of its account, as is known since the agent has told of its limits last; nil if it has not.
	Filled *quota.Window

	argument string
	secrets  *redact.Known
}

// Argument is what the tool was given, or the model has written, in short and without secrets. To look for those takes time, so it is asked for only where it is
// shown.
func (a Activity) Argument() string { return a.secrets.Text(a.argument) }
