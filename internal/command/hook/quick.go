package hook

import (
	"context"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/stdio"
)

// Trouble is the exit code of a call that fails for a reason of belay's own. A client that calls belay hook reads every exit code in its own way (2 blocks), so
// those of the other commands do not apply to a call, also to one that is wrong: a settings line that has lost its command must not look like a decision.
// They do to install and the like, which people call.
func Trouble(args []string) int {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if slices.Contains(args, "--fail-closed") {
		return hook.Block
	}
	return 1 // clients show it and go on
}

// Quick is belay hook with plain arguments, without the tree of commands.
func Quick(ctx context.Context, std stdio.Streams, args []string) (err error, ok bool) {
	h, ok := quickHook(args)
	if !ok {
		return nil, false
	}
	return command.Exit(runHook(ctx, std, h)), true
}

// quickHook parses `hook [--flag[=value]]… -- command…` without cobra, as belay run does.
func quickHook(args []string) (h *hook.Hook, ok bool) {
	if len(args) == 0 || args[0] != "hook" {
		return nil, false
	}
	f := hookFlags{timeout: hook.DefaultTimeout}
	for args = args[1:]; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		name, value, hasValue := strings.Cut(arg, "=")
		takes := name == "--timeout" || name == "--name" || name == "--tag"
		if takes && !hasValue && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case arg == "--":
			return f.hook(args), len(args) > 0
		case arg == "--fail-closed":
			f.failClosed = true
		case arg == "--keep-background":
			f.keepBackground = true
		case name == "--name" && value != "":
			f.name = value
		case name == "--tag":
			if f.tags.Set(value) != nil {
				return nil, false
			}
		case name == "--timeout":
			d, err := config.ParseDuration(value)
			if err != nil {
				return nil, false
			}
			f.timeout = d
		default:
			return nil, false
		}
	}
	return nil, false
}
