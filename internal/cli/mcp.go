package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/host"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
)

func newMCP() *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags] (-- server [args…] | --url URL)",
		Short: "Run an MCP server, and restart it when it crashes",
		Example: `Run a server through belay:
  belay mcp -- npx -y @modelcontextprotocol/server-filesystem .
Give one tool more time than the others:
  belay mcp --name db --timeout 2m --tool-timeout export=10m -- ./db-server
Use a server over HTTP, with a token from a variable:
  belay mcp --url https://example.com/mcp --bearer-env EXAMPLE_TOKEN
Put belay in front of all of a client's servers:
  belay mcp install --client claude --dry-run
Show the servers that are running:
  belay mcp status`,
		Long: `Passes MCP messages between a client, on stdin and stdout, and a server that it starts. While all is well, nothing is changed. A server that
crashes or hangs is restarted and told what the client had told the one before. Every request is answered exactly once. Calls that are safe to repeat are retried
up to three times, after 1, 2 and 4 seconds: lists, reads, and tools that the server declares read-only or idempotent. What the server prints to stdout that is not a message goes to stderr.

With --url the server is one over HTTP. It is reconnected to, and a session that it has forgotten is opened again; 429 and 503 are waited for. Credentials are read from
environment variables, which --header-env and --bearer-env name. Servers that ask for a login (OAuth) have to be connected to by the client itself.

Durations are 30s, 5m, 1h30m or plain seconds; 0 means no limit. When the client leaves, the server is stopped, with everything it has started.`,
		Args: cobra.ArbitraryArgs,
	}
	f.add(cmd)
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch flag := f.given(); {
		case f.url != "" && len(args) > 0:
			return command.Usage(message.Error("--url and a command cannot be used together"), "")
		case f.maxMemory > 0 && f.url != "":
			return command.Usage(message.Error(message.NotTogether("--max-memory", "--url")), "")
		case f.maxMemory > 0 && f.noRestart:
			return command.Usage(message.Error(message.NotTogether("--max-memory", "--no-restart")), "")
		case f.url != "":
			return f.connect(cmd.Context(), command.Streams(cmd))
		case flag != "":
			return command.Usage(message.Error("--"+flag+" needs --url"), "")
		case len(args) == 0:
			return command.Usage(message.Error("no server given"), message.AsIn("belay mcp -- npx -y @modelcontextprotocol/server-everything"))
		}
		if _, err := supervise.Look(args[0], f.cwd); err != nil && cmd.ArgsLenAtDash() != 0 && config.Nearest(args[0], command.CommandsOf(cmd)) != "" {
			return command.NoArgs(cmd, args)
		}
		return f.serve(cmd.Context(), command.Streams(cmd), args)
	}
	cmd.AddCommand(newMCPStatus(), newMCPInstall(), newMCPUninstall())
	return cmd
}

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

func (f *mcpFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	text := func(to *string, name, kind, usage string) { command.AddText(flags, to, name, kind, usage) }
	text(&f.name, "name", "NAME", "name the server in messages, log and gate (default: its command or host)")
	text(&f.url, "url", "URL", "use the server at this http or https address instead of starting one")
	text(&f.transport, "transport", "KIND", "how to speak to it: http, or sse for servers of 2024 (default: http, and sse if the server has only that)")
	flags.Var(command.ListValue(&f.headers, "HEADER=VARIABLE"), "header-env", "send it a header whose value is in an environment variable; may be repeated")
	text(&f.bearer, "bearer-env", "VARIABLE", "send it the token in an environment variable as Authorization: Bearer")
	text(&f.timeout, "timeout", "D", "longest time a call may go without an answer or progress (default 30s; agents 15m)")
	flags.Var(command.ListValue(&f.toolTimeouts, "NAME=D"), "tool-timeout", "the same limit for one tool; may be repeated")
	text(&f.maxTimeout, "max-timeout", "D", "longest time a call may take, whatever its progress (default 10m)")
	text(&f.startTimeout, "start-timeout", "D", "longest time the server may take for the first request (default 60s)")
	text(&f.hang, "hang-timeout", "D", "restart the server if it stays silent this long after a timeout (default: as --timeout)")
	flags.BoolVar(&f.noRestart, "no-restart", false, "do not restart a server that has died, for servers whose state must not be lost unnoticed")
	text(&f.callRetries, "call-retries", "N", "retry a call that is safe to repeat up to N times, after 1s, 2s, 4s … (default 3)")
	flags.BoolVar(&f.noRetry, "no-retry", false, "never retry a call")
	flags.Var(command.ListValue(&f.retryTools, "NAME"), "retry-tool", "a tool that is safe to retry; may be repeated")
	flags.Var(command.ListValue(&f.noRetryTools, "NAME"), "no-retry-tool", "a tool that is not safe to retry, whatever the server says; may be repeated")
	flags.Var(&f.maxMemory, "max-memory", "restart the server, between calls, if it uses more memory than SIZE, such as 1G, with all that it has started (default none)")
	text(&f.maxBytes, "max-message", "MIB", "largest message that is passed on, in MiB (default 64)")
	text(&f.cwd, "cwd", "DIR", "run the server in DIR")
	flags.Var(&f.tags, "tag", command.TagUsage)
	flags.BoolVar(&f.noGate, "no-gate", false, "do not share a circuit breaker with other runs of this server")
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
