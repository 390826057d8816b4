package mcp

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/host"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// serve is belay mcp.
func (f *mcpFlags) serve(ctx context.Context, std stdio.Streams, args []string) error {
	o, err := f.options(args)
	if err != nil {
		return err
	}
	o.Path, o.PathError = supervise.Look(args[0], f.cwd)
	labels, err := f.tags.Labels()
	if err != nil {
		return err
	}
	o.Env = append(serverEnviron(os.Environ()), labels.Environ()...)
	o.Stdin, o.Stdout, o.Stderr = std.In, std.Out.Raw(), std.Err
	o.Supervisor = command.Supervisor(ctx)
	recorder := host.Open(&o, labels, &redact.Known{Env: slices.Concat(os.Environ(), o.Env), Args: o.Args}, command.FoldLog)
	defer recorder.Close()
	if o.Gate != nil && f.noGate {
		o.Gate = nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	code := command.CodeStopped
	var caught command.Signals
	if command.OwnsProcess(ctx) != nil {
		caught = command.CatchSignals(true)
	}
	p := mcp.New(o)
	if caught != nil {
		go caught.End(func(sig syscall.Signal) {
			code = 128 + int(sig)
			cancel()
		}, p.Kill)
	}
	p.Run(ctx)
	if ctx.Err() != nil {
		return command.Exit(code)
	}
	return nil
}

// serverEnviron is the environment for the server: our own settings are not for it.
func serverEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "BELAY_") && name != supervise.RunIDVar && name != state.DirVar && name != engine.ChargeVar
	})
}
