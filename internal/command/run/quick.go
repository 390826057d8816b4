package run

import (
	"context"
	"strings"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/stdio"
)

// Quick is belay run with plain arguments, without the tree of commands.
func Quick(ctx context.Context, std stdio.Streams, args []string) (err error, ok bool) {
	given, argv, ok := quickRun(args)
	if !ok {
		return nil, false
	}
	return Run(ctx, std, given, argv, nil), true
}

// quickRun parses `run [--flag[=value]]… [--] command…` without cobra, whose command tree costs a tenth of a whole
// `belay run -- true`. It abstains (ok is false) on everything that is not plain, mistakes and --help among them, and
// leaves those to cobra, so that messages come from one place. A test compares the two.
func quickRun(args []string) (given config.Given, command []string, ok bool) {
	if len(args) == 0 || args[0] != "run" {
		return nil, nil, false
	}
	given = config.Given{}
	for args = args[1:]; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return given, args, len(args) > 0
		}
		if !strings.HasPrefix(arg, "-") {
			return given, append([]string{arg}, args...), true
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		setting := config.Find(name)
		if !strings.HasPrefix(arg, "--") || setting == nil {
			return nil, nil, false
		}
		switch {
		case hasValue:
		case setting.Bare():
			value = "true"
		case len(args) == 0:
			return nil, nil, false
		default:
			value, args = args[0], args[1:]
		}
		if setting.Check(value) != nil {
			return nil, nil, false
		}
		given.Add(setting, value)
	}
	return nil, nil, false
}
