// Package demo is belay demo.
package demo

import (
	"context"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/rehearse/demo"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

// Run is belay demo.
func Run(ctx context.Context, r *request.Request) (int, error) {
	d := &demo.Demo{Out: r.Out, Belay: r.Belay, Start: func(ctx context.Context, spec supervise.Spec) (int, error) {
		spec.Placement = signals.Shared(r.Streams)
		return signals.Run(ctx, spec)
	}}
	return d.Play(ctx)
}

// AskName is the name under which belayd is the client that the demo runs, and Ask is that client.
const AskName = demo.AskName

// Ask is the client that the demo runs.
func Ask(ctx context.Context, std stdio.Streams, args []string) int { return demo.Ask(ctx, std, args) }
