package detach

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	wallclock "github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// Later is what the flags ask for that start a command later, or let it go on by itself. They are no settings: a call without them does not pay for them. A nil one
// asks for nothing.
type Later struct {
	detach, whenLifted bool
	at                 string
	flags              *pflag.FlagSet

	schedule engine.Schedule
}

// Group is the heading of the flags.
const Group = "Scheduling"

// AddFlags adds the flags to a command.
func AddFlags(cmd *cobra.Command) *Later {
	flags := cmd.Flags()
	l := &Later{flags: flags}
	flags.BoolVar(&l.detach, "detach", false, "keep it running after logout, and print its id; its output is kept in the state directory, for you alone, until belay attach has shown it")
	command.AddText(flags, &l.at, "at", "T", "start at T: a time of day (03:00), a date (2026-11-17T03:00) or a duration from now (2h)")
	flags.BoolVar(&l.whenLifted, "when-lifted", false, "start when the limit of this account is over, however late that is; at once if there is none")
	for _, name := range []string{"detach", "at", "when-lifted"} {
		flags.SetAnnotation(name, command.GroupKey, []string{Group})
	}
	return l
}

// laterKey is the key of what is asked for in a context.
type laterKey struct{}

// Put returns a context with what the flags ask for; the same if that is nothing.
func (l *Later) Put(ctx context.Context) (context.Context, error) {
	given := l.flags.Changed("at") // an empty one is a variable that was not set, not the wish to start at once
	if !l.detach && !given && !l.whenLifted {
		return ctx, nil
	}
	l.schedule.WhenLifted = l.whenLifted
	switch d := Of(ctx); {
	case !given:
	case d != nil: // it was read when it was typed
		l.schedule.At = d.at
	default:
		at, err := command.ParseTime(l.at, wallclock.Now())
		if err != nil {
			return ctx, command.Usage(err, "")
		}
		l.schedule.At = at
	}
	return context.WithValue(ctx, laterKey{}, l), nil
}

// LaterOf is what the flags ask for.
func LaterOf(ctx context.Context) *Later {
	l, _ := ctx.Value(laterKey{}).(*Later)
	return l
}

// Detaches reports whether this process is to start one that goes on by itself, and is not that one.
func (l *Later) Detaches(ctx context.Context) bool {
	return l != nil && l.detach && Of(ctx) == nil
}

// Schedule is when the first attempt may start.
func (l *Later) Schedule() (s engine.Schedule) {
	if l != nil {
		s = l.schedule
	}
	return s
}

// doing says whether what is detached runs already, or waits for its time.
func (l *Later) doing() string {
	if l.schedule == (engine.Schedule{}) {
		return "running"
	}
	return "waiting to start"
}

// PostponedText says when something starts.
func PostponedText(name string, p engine.Postponed) string {
	if p.Key == "" {
		return fmt.Sprintf("%s starts at %s", name, message.When(p.Until))
	}
	return message.StartsWhenLifted(name, p.Key, p.Refusal)
}
