// Package mcp is belay mcp: a server of a client, and how belay is put in front of servers.
package mcp

import (
	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// New makes belay mcp.
func New() *cobra.Command {
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
		if _, err := supervise.Look(args[0], f.cwd); err != nil && cmd.ArgsLenAtDash() != 0 && message.Nearest(args[0], command.CommandsOf(cmd)) != "" {
			return command.NoArgs(cmd, args)
		}
		return f.serve(cmd.Context(), command.Streams(cmd), args)
	}
	cmd.AddCommand(newMCPStatus(), newMCPInstall(), newMCPUninstall())
	return cmd
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
