package mcp

import (
	"context"
	"encoding/json"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/mcp/host"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// connect is belay mcp --url: belayd does it, which has what HTTP takes.
func (f *mcpFlags) connect(ctx context.Context, std stdio.Streams) error {
	address, err := f.address()
	if err != nil {
		return err
	}
	if f.cwd != "" {
		return command.Usage(message.Error("--"+"cwd"+" cannot be used with --url"), "")
	}
	authority, _, _ := address.Authority()
	o, err := f.options([]string{authority})
	if err != nil {
		return err
	}
	labels, err := f.tags.Labels()
	if err != nil {
		return err
	}
	settings, err := json.Marshal(host.Handover{Options: o, Address: address, Labels: labels, NoGate: f.noGate})
	if err != nil {
		return command.Fail(err)
	}
	return command.HandOver(ctx, std, belayd.MCP, "--settings="+string(settings))
}
