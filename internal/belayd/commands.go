package belayd

import (
	"slices"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/verdict"
)

// Names of commands that are asked for in a way of their own.
const (
	Rehearse = "rehearse"
	Demo     = "demo"
	// Fold brings the record up to date. A failed run has it done, and does not wait.
	Fold = "fold"
	// CheckDatabase is what belay doctor leaves to belayd.
	CheckDatabase = "check-database"
)

// Commands is the table. It is made when it is asked for: most calls of belay need none of it.
func Commands() []Command {
	return []Command{
		{
			Name:    Rehearse,
			Use:     "rehearse --script SCRIPT [flags] -- command [args…]",
			Summary: "Try out a command against stand-ins that fail as a script says",
			Examples: `  belay rehearse --script '429(retry-after=2)x2, 200' -- claude -p hi
  belay rehearse --script 'tool(bash: make test), drop-mid, 200' -- codex exec 'fix the tests'
  belay rehearse --script 'usage-limit(resets=3h)' --json -- claude -p hi
  belay rehearse --script 'limit(20/60s)' -- ./my-pipeline.sh`,
			Long: `Starts stand-ins for the APIs of Anthropic, OpenAI and GitHub on loopback, points the command at
them with a key that opens nothing and a home of its own, runs it as belay run would, and reports
on stderr what it asked, when, what it was answered, and what belay made of it. Nothing is
spent, and nobody else is talked to by the agents. The exit code is that of belay run.

A script is a list of steps, one for each request that is part of the work: a status (200, 429,
529 …) or hang, reset, refuse, garbage, slow(2s), tool(bash: …), usage-limit(resets=3h),
overloaded, drop-mid, end-mid, hang-mid, garbage-mid, overloaded-mid, error-mid(code=…), limit(20/60s),
mix(5%, seed=1); of GitHub also lost, primary(resets=2s), secondary(retry-after=2). In parentheses: retry-after, text, in, out, message, body, after … or any
header; x3 repeats, x* for ever. After the script all is answered well. docs/rehearsal.md
has all of it. The flags of belay run are taken too.`,
			Flags: []Flag{
				{Name: "script", Arg: "SCRIPT", Help: "what the stand-ins do; @FILE reads it from a file"},
				{Name: "script-file", Arg: "FILE", Help: "the same, in a file"},
				{Name: "dir", Arg: "DIR", Help: "keep homes, sessions and state there (a temporary directory)"},
				{Name: "json", Help: "print the report as JSON on stdout, in place of the command's output"},
				{Name: "report-file", Arg: "FILE", Help: "write the report there as JSON"},
				{Name: "result-file", Arg: "FILE", Help: "where belay run writes its result", Hidden: true},
			},
			Args: Args{What: "command", Example: "belay rehearse --script '429x2, 200' -- claude -p hi", Command: true},
		},
		{
			Name:     Demo,
			Use:      "demo",
			Summary:  "See a limit, a wait, a success and a circuit breaker in half a minute",
			Examples: "  belay demo",
			Long: `Runs belay a few times against a stand-in for an API that fails on purpose. Everything shown
really happens, on loopback; nothing has to be installed, no key is needed, nothing is spent.
Times are short, and the record is kept apart from yours.`,
		},
		{
			Name:    "log",
			Use:     "log [flags] [RUN]",
			Summary: "Show what was run, or the whole story of one run",
			Examples: `  belay log
  belay log --class failed --since 2h
  belay log 1f0c9a3e
  belay log --follow --attempts
  belay log --tree --name nightly
  belay log --profile claude --since 2026-11-01 --until 2026-11-08 --json`,
			Long: `Shows a line a run, the newest last: when it ended, what it was, what became of it, after how many
attempts and waits. With a RUN (its id, or the beginning or end of it) all that is on record of
it: every attempt, why it failed, what was waited for. With --tree runs stand below the run that
they were started in, with what each has cost, and what it has cost with all runs inside it.`,
			Flags: slices.Concat([]Flag{
				count("20"),
				{Name: "follow", Short: "f", Help: "go on with what comes, until Ctrl-C"},
				{Name: "attempts", Help: "a line an attempt, as in the log"},
				{Name: "tree", Help: "runs below the run that they were started in, with their sums; of one RUN what is inside it"},
				{Name: "session", Arg: "ID", Help: "only runs of this session"},
				{Name: "invocation", Arg: "RUN", Help: "the story of this run"},
			}, narrowing(), labels(), times()),
			Args: Args{What: "run", Example: "belay log 1f0c9a3e"},
		},
		{
			Name:    "stats",
			Use:     "stats",
			Summary: "Show success, attempts, waits, tokens and cost",
			Examples: `  belay stats --since 7d
  belay stats --by model --since 2026-11-01
  belay stats --by class --profile claude
  belay stats --by tag.team --since 30d
  belay stats --by day --csv > days.csv`,
			Long: `Adds up what is on record: how many runs ended and how many of them well, attempts, requests
made of the services, time waited, tokens and cost as the CLIs report them; and how often hooks
and MCP servers have failed (faults). Attempts and tokens count when the attempt ended, runs when
they did. Days are those of your time zone (TZ). In a bar, ░ is what failed.`,
			Flags: slices.Concat([]Flag{
				{Name: "by", Arg: "WHAT", Help: "day, profile, model, class, name, project or tag.KEY (day, profile and class; day with --json and --csv)",
					Values: []string{"day", "profile", "model", "class", "name", "project"}},
				{Name: "csv", Help: "as CSV"},
			}, narrowing(), labels(), times()),
		},
		{
			Name:    "events",
			Use:     "events",
			Summary: "Show what failed for good: runs, hooks and MCP servers",
			Examples: `  belay events --since 1h
  belay events --category hook
  belay events --profile claude --json`,
			Long: `Shows final failures only: not the attempts that were repeated, nor what a person interrupted or a
gate refused. --json has the context: error, class, retries, the run, and of hooks and MCP tools
what they were called with, as far as that may be kept.`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "category", Arg: "KIND", Help: "one of integration, hook and mcp",
					Values: []string{"integration", "hook", "mcp"}, Closed: true},
				{Name: "session", Arg: "ID", Help: "only this session"},
			}, narrowing(), times()),
		},
		{
			Name:    "sessions",
			Use:     "sessions [ID]",
			Summary: "Show the sessions of agents, how they ended and what they used",
			Examples: `  belay sessions --since 7d
  belay sessions --status failed
  belay log --session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66`,
			Long: `Shows a line a session, the one used last at the end: status (running, done, failed, interrupted,
abandoned: a retry has begun another), runs, attempts, tokens and cost over all of them, and the
message if it failed. An ID may be the beginning or end of one. To go on with one: belay run --resume ID -- claude -p '…'`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "status", Arg: "STATUS", Help: "only running, done, failed, interrupted or abandoned ones",
					Values: []string{"running", "done", "failed", "interrupted", "abandoned"}, Closed: true},
				profile("only sessions of this profile"),
			}, labels(), times()),
			Args: Args{What: "session", Example: "belay sessions 3f9c1a52"},
		},
		{
			Name:    "alerts",
			Use:     "alerts",
			Summary: "Show what has failed again and again",
			Examples: `  belay alerts --since 7d
  belay alerts --integration claude --json`,
			Long: `An alert is raised when an integration (a profile, mcp:SERVER, hook:NAME) has failed for good five
times within ten minutes, once until it has been better for ten minutes. It is said on stderr by
the run that raised it, and given to the command or webhook of your config.toml:

  [alert]
  failures = 5              # 0 turns alerts off
  within = "10m"
  command = ["notify-send", "belay"]      # gets the alert as JSON on stdin
  webhook = "https://example.com/hook"    # gets it posted
  [alert.claude]            # for one integration
  failures = 20`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "integration", Arg: "NAME", Help: "only alerts of this integration"},
			}, times()),
		},
		{
			Name:    "audit",
			Use:     "audit",
			Summary: "Show failures by kind, and what was changed by hand",
			Examples: `  belay audit --since 7d
  belay audit --action gate_reset
  belay audit --session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66 --json`,
			Long: `Shows who did what: failed runs, and errors that a Go program has handled, with type, category
(connection, sdk, unknown), severity (warning if it was worth repeating, else error), message and
context, and gates that a person has reset, held or opened, with the reason.`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "action", Arg: "ACTION", Help: "only this: failure, gate_reset, gate_hold, gate_open",
					Values: []string{"failure", "gate_reset", "gate_hold", "gate_open"}, Closed: true},
				{Name: "session", Arg: "ID", Help: "only this session"},
			}, narrowing(), times()),
		},
		{
			Name:    "prune",
			Use:     "prune (--older-than T | --max-size SIZE)",
			Summary: "Forget what is old on record",
			Examples: `  belay prune --older-than 90d
  belay prune --max-size 500MB
  belay prune --older-than 2026-01-01 --dry-run`,
			Long: `Forgets runs, events, alerts, sessions and their files that are older than that, or the oldest until
the record is small enough. A log that is old is moved aside at first, and removed by a later
call when all in it is that old and has been taken over into the database; what has not been is
never removed.`,
			Flags: []Flag{
				{Name: "older-than", Arg: "T", Help: "an age or a day: 90d, 2026-01-01"},
				{Name: "max-size", Arg: "SIZE", Help: "what the record may take on the disk: 500MB, 2GB"},
				{Name: "dry-run", Help: "say what would be forgotten"},
				{Name: "json", Help: "as JSON"},
			},
		},
		{Name: Fold, Hidden: true},
		{Name: CheckDatabase, Hidden: true},
	}
}

// count is -n.
func count(usual string) Flag {
	return Flag{Name: "n", Short: "n", Arg: "N", Default: usual, Help: "how many, the newest (" + usual + "); 0 for all"}
}

// times are the flags of all commands that look at the past.
func times() []Flag {
	return []Flag{
		{Name: "since", Arg: "T", Help: "from then on: 2h, 7d, 14:30, yesterday, 2026-11-01, 2026-11-01T14:30:00Z",
			Values: []string{"1h", "24h", "7d", "today", "yesterday"}},
		{Name: "until", Arg: "T", Help: "before then, as --since"},
		{Name: "json", Help: "as JSON, one object a line"},
	}
}

// narrowing are the flags that choose among runs.
func narrowing() []Flag {
	classes := []string{"failed"}
	for _, c := range verdict.Classes() {
		classes = append(classes, string(c))
	}
	return []Flag{
		profile("only runs of this profile"),
		{Name: "class", Arg: "CLASS", Help: "only this class of result; failed means every one but ok", Values: classes},
	}
}

// labels are the flags that choose by the labels of runs.
func labels() []Flag {
	return []Flag{
		{Name: "name", Arg: "NAME", Help: "only runs of this name"},
		{Name: "tag", Arg: "KEY=VALUE", Help: "only runs with this tag; may be repeated", Several: true},
		{Name: "project", Arg: "DIR", Help: "only runs in the repository of this directory"},
	}
}

func profile(help string) Flag {
	return Flag{Name: "profile", Arg: "NAME", Help: help, Values: slices.Clone(config.Profiles)}
}
