package mcp

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// mcpFlags are the flags of belay mcp, as they are written.
type mcpFlags struct {
	mcpAddress
	name, cwd, callRetries                            string
	timeout, maxTimeout, startTimeout, hang, maxBytes string
	toolTimeouts, retryTools, noRetryTools            []string
	tags                                              command.TagFlag
	noRetry, noRestart, noGate                        bool
	maxMemory                                         command.MemoryFlag
}

// maxCallRetries is more than any call has time for.
const maxCallRetries = 100

// agentCall is how long an agent may take that serves as a tool: as long as it may be silent elsewhere.
const agentCall = 15 * time.Minute

// isAgent says whether a command is an agent's.
func isAgent(command string) bool {
	d := profile.OfCommand(command)
	return d != nil && d.IsAgent()
}

// mcpLimit reads a duration of which 0 means none.
func mcpLimit(text string) (time.Duration, error) {
	d, err := config.ParseDuration(text)
	switch {
	case err != nil:
		return 0, err
	case d < 0:
		return 0, message.Error("it is negative")
	case d == 0:
		return relay.Never, nil
	}
	return d, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// options reads the flags.
func (f *mcpFlags) options(args []string) (mcp.Options, error) {
	o := mcp.Options{Args: args, Dir: f.cwd, MaxMemory: int64(f.maxMemory), Settings: relay.Settings{Name: cmp.Or(f.name, filepath.Base(args[0])), NoRestart: f.noRestart, NoRetry: f.noRetry, RetryTools: map[string]bool{}, ToolTimeouts: map[string]time.Duration{}}}
	if f.url == "" && isAgent(args[0]) {
		o.Timeout, o.MaxTimeout = agentCall, relay.Never
	}
	for _, limit := range []struct {
		to         *time.Duration
		name, text string
	}{{&o.Timeout, "timeout", f.timeout}, {&o.MaxTimeout, "max-timeout", f.maxTimeout}, {&o.StartTimeout, "start-timeout", f.startTimeout},
		{&o.Hang, "hang-timeout", f.hang}} {
		if limit.text == "" {
			continue
		}
		d, err := mcpLimit(limit.text)
		if err != nil {
			return o, command.Usage(message.Error(fmt.Sprintf("--%s %q: %v", limit.name, limit.text, err), err), message.AsIn("--"+limit.name+" 2m"))
		}
		*limit.to = d
	}
	for _, text := range f.toolTimeouts {
		name, value, ok := cutLast(text, "=")
		d, err := mcpLimit(value)
		if !ok || name == "" || err != nil {
			return o, command.Usage(message.Error(fmt.Sprintf("--tool-timeout %q is not NAME=DURATION", text)), message.AsIn("--tool-timeout export=10m"))
		}
		o.ToolTimeouts[name] = d
	}
	for _, name := range f.retryTools {
		o.RetryTools[name] = true
	}
	for _, name := range f.noRetryTools {
		o.RetryTools[name] = false
	}
	if f.callRetries != "" {
		n, err := strconv.Atoi(f.callRetries)
		if err != nil || n < 0 || n > maxCallRetries {
			err = message.Error(message.NotANumber(f.callRetries, 0, maxCallRetries))
			return o, command.Usage(message.Error(message.InFlag("call-retries", err), err), message.AsIn("--call-retries 3"))
		}
		if o.CallRetries = n; n == 0 {
			o.CallRetries = -1
		}
	}
	if f.maxBytes != "" {
		var mib int
		if n, err := fmt.Sscanf(f.maxBytes, "%d", &mib); n != 1 || err != nil || mib < 1 || mib > 4096 {
			return o, command.Usage(message.Error(fmt.Sprintf("--max-message %q is not a number of MiB between 1 and 4096", f.maxBytes)), "")
		}
		o.MaxMessage = mib << 20
	}
	return o, nil
}
