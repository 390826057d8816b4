package belayd

import (
	"slices"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/verdict"
)

// Commands is the table. It is made when it is asked for: most calls of belay need none of it.
func Commands() []Command { return slices.Concat(rehearsals(), single(), fleet()) }

// Find returns the command of that name; ok is false if there is none.
func Find(name string) (c Command, ok bool) {
	list := Commands()
	if i := slices.IndexFunc(list, func(c Command) bool { return c.Name == name }); i >= 0 {
		return list[i], true
	}
	return Command{}, false
}

// single are the other commands that look after one machine.
func single() []Command {
	return []Command{
		{
			Name:    UI,
			Use:     "ui",
			Summary: "Show runs, costs and health on a page in the browser",
			Examples: `Open the page:
  belay ui
Print the address instead, to open it yourself or through ssh -L:
  belay ui --no-open --port 7000
Show the page without a way to change anything:
  belay ui --read-only
Show all machines of a fleet:
  belay ui --fleet`,
			Long: `Serves a page on 127.0.0.1 and opens it in your browser. It shows what is running and waiting, past runs with their stories, what was spent, and how
reliable it was. Runs can be cancelled there, and gates held and reset. The page changes by itself as things happen.

It loads nothing from the network. Only the browser that was given the address can use it, and the address is good once and for a minute. How to use it from
another machine, and details: https://github.com/belay-run/belay/blob/main/docs/ui.md`,
			Flags: []Flag{
				{Name: "no-open", Help: "print the address instead of opening a browser"},
				{Name: "port", Arg: "PORT", Default: "0", Help: "listen on this port (default: one that is free)"},
				{Name: "address", Arg: "IP", Default: "127.0.0.1", Help: "listen on this address of the machine (default 127.0.0.1); others can then reach it, unencrypted"},
				{Name: "read-only", Help: "refuse to cancel runs, to change gates and to run tasks again"},
				{Name: "metrics-token-file", Arg: "FILE", Help: "serve /metrics to those who have the token in FILE (Authorization: Bearer)"},
				{Name: "fleet", Help: "show all machines of the fleet, read-only"},
				inFleet()[2],
				{Name: "idle", Arg: "D", Default: "8h", Help: "end when no page has been open for D (default 8h); 0 for never"},
			},
		},
		{
			Name:    "top",
			Use:     "top",
			Summary: "Watch runs, gates and spending, and step in",
			Examples: `Watch what runs:
  belay top
Refresh twice a second:
  belay top --interval 500ms
Print one snapshot for a program:
  belay top --json`,
			Long: `Shows what runs and what waits, gates that are not healthy, budgets and what was spent today, and
refreshes itself. Keys: up and down (or j and k) select, Enter shows everything about one run, x
cancels it, Tab goes to the gates, r resets one, ? shows all keys, q quits.

Where there is no terminal it prints the screen once, and with --json one snapshot.`,
			Flags: []Flag{
				{Name: "interval", Arg: "D", Default: "2s", Help: "how often to refresh (2s)"},
				{Name: "json", Help: "print one snapshot as JSON"},
			},
		},
		{
			Name:    "log",
			Use:     "log [flags] [RUN]",
			Summary: "Show past runs, or everything about one run",
			Examples: `Show the last 20 runs:
  belay log
Show what has failed since yesterday, and why it was not retried:
  belay log --failed --since yesterday
Show every attempt, wait and decision of a run, or of the last one:
  belay log 1f0c9a3e
  belay log last
Show failures of hooks, MCP servers and Go programs too:
  belay log --kind events
Watch attempts as they end:
  belay log --follow --attempts
Show which runs were started inside which, and what they cost:
  belay log --tree --name nightly
Export a week of claude:
  belay log --profile claude --since 2026-11-01 --until 2026-11-08 --json`,
			Long: `Shows one line per run, the newest last: when it ended, what it was, how it ended, after how many attempts and waits, and why that was the end. With a RUN (its id,
the beginning or end of it, or last) it shows everything on record about it: every attempt, why it failed, what was waited for, and what Belay decided. With --tree, runs are
listed below the run that they were started in, with what each has cost, alone and with all runs inside it.

With --kind it shows what else is on record: events (final failures of runs, hooks, MCP servers and Go programs), hook and mcp (only those of one kind), audit (failures by
kind, and gates that were reset, held or opened by hand), or alerts (what has failed again and again, and who was told).`,
			Flags: slices.Concat([]Flag{
				count("20"),
				{Name: "follow", Short: "f", Help: "keep printing new runs until Ctrl-C"},
				{Name: "kind", Arg: "KIND", Help: "show events, hook, mcp, audit or alerts instead of runs",
					Values: []string{"events", "hook", "mcp", "audit", "alerts"}, Closed: true},
				{Name: "failed", Group: Filters, Help: "only what has failed, as --class failed"},
				{Name: "attempts", Help: "one line per attempt"},
				{Name: "tree", Help: "list runs below the run that they were started in, with sums; with a RUN, those inside it"},
				{Name: "session", Arg: "ID", Group: Filters, Help: "only runs of this session"},
				{Name: "invocation", Arg: "RUN", Help: "everything about this run"},
				{Name: "explain", Help: "the verdict on this run", Hidden: true}, // for belay explain RUN
			}, narrowing(), labels(), ofBatch(), times(), inFleet()),
			Args: Args{What: "run", Example: "belay log 1f0c9a3e"},
		},
		{
			Name:    "stats",
			Use:     "stats",
			Summary: "Show success, attempts, waits, tokens and cost",
			Examples: `Show the last week:
  belay stats --since 7d
Show the cost of each model this month:
  belay stats --by model --since 2026-11-01
Show how runs of claude ended:
  belay stats --by class --profile claude
Show the cost of each team:
  belay stats --by tag.team --since 30d
Export the days as CSV:
  belay stats --by day --csv > days.csv
Show the cost of each machine of a fleet:
  belay stats --fleet --by machine`,
			Long: `Adds up what is on record: runs and how many of them succeeded, attempts, requests to the services, time spent waiting, tokens and cost as the CLIs report them.
Faults are failures of hooks and MCP servers. Attempts and tokens count when the attempt ended, runs when they ended. Days are those of your
time zone (TZ). In a bar, ░ is what failed.`,
			Flags: slices.Concat([]Flag{
				{Name: "by", Arg: "WHAT", Help: "sum up by day, profile, model, class, name, project, machine (with --fleet) or tag.KEY (default with --json and --csv: day)",
					Values: []string{"day", "profile", "model", "class", "name", "project", "machine"}},
				{Name: "csv", Help: "print CSV"},
			}, narrowing(), labels(), ofBatch(), times(), inFleet()),
		},
		{
			Name:     "events",
			Use:      "events",
			Unlisted: true,
			Summary:  "Show final failures of runs, hooks and MCP servers",
			Examples: `Show what has failed in the last hour:
  belay events --since 1h
Show failed hooks:
  belay events --category hook
Get all details:
  belay events --profile claude --json`,
			Long: `The same as belay log --kind events.

Shows final failures only: no attempts that were retried, nothing that you interrupted or that a gate refused. --json has the context: error, class, retries, the
run, and for hooks and MCP tools what they were called with, as far as that may be kept.`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "category", Arg: "KIND", Group: Filters, Help: "only integration, hook or mcp",
					Values: []string{"integration", "hook", "mcp"}, Closed: true},
				{Name: "session", Arg: "ID", Group: Filters, Help: "only events of this session"},
			}, narrowing(), times(), inFleet()),
		},
		{
			Name:    "sessions",
			Use:     "sessions [ID]",
			Summary: "Show agents' sessions, how they ended and what they used",
			Examples: `Show the sessions of the last week:
  belay sessions --since 7d
Show those that failed:
  belay sessions --status failed
Continue one:
  belay run --resume 3f9c1a52 -- claude -p "Go on"`,
			Long: `Shows one line per session, the most recently used last: its status, runs, attempts, tokens and cost, and the message if it failed. The status is running, done, failed,
interrupted or abandoned (a retry has started another session). An ID may be the beginning or end of one.`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "status", Arg: "STATUS", Group: Filters, Help: "only running, done, failed, interrupted or abandoned sessions",
					Values: []string{"running", "done", "failed", "interrupted", "abandoned"}, Closed: true},
				profile("only sessions of this profile"),
			}, labels(), times(), inFleet()),
			Args: Args{What: "session", Example: "belay sessions 3f9c1a52"},
		},
		ofSession("check", "Say what is wrong with a session that cannot go on", `See why the service rejects a session of claude or codex:
  belay sessions check 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66`,
			`Reads the CLI's own record of the session, and says for what the service or the CLI rejects it: a tool call without its result, an image that is too large, a torn
line. The exit code is 1 if the session cannot go on.`, Flag{Name: "json", Help: "print JSON"}),
		ofSession("repair", "Repair a copy of a session that cannot go on", `Repair a copy, and go on with it:
  belay sessions repair 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66
  belay run --resume 3f9c1a52-8f0e-4b5a-9d43-5b1f0a77c2d1 -- claude -p "Go on"`,
			`Writes a copy of the CLI's own record, beside it and under a new id, without what the service rejects: a call gets a result, an image or a torn line is left out.
Prints the new id. The session itself is not changed.`, Flag{Name: "json", Help: "print JSON"}),
		ofSession("show", "Show what was said and done in a session", `Read what an agent did last:
  belay sessions show -n 20 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66`,
			`Reads the CLI's own record of a session of claude or codex: who said what, which tools were called with what, what they answered, and how many tokens and dollars that
took. Secrets are left out, and of each part at most 2,000 bytes are shown.`, count("200"), Flag{Name: "json", Help: "print JSON, one object per line"}),
		{
			Name:     "alerts",
			Use:      "alerts",
			Unlisted: true,
			Summary:  "Show what has failed again and again",
			Examples: `Show the alerts of the last week:
  belay alerts --since 7d
Show those of one integration:
  belay alerts --integration claude --json`,
			Long: `The same as belay log --kind alerts.

An alert is raised when an integration (a profile, mcp:SERVER or hook:NAME) has failed for good five times within ten minutes. It is raised again only after ten minutes
without trouble. The run that raises it says so on stderr and passes it to the command or webhook of your config.toml:

  [alert]
  failures = 5              # 0 turns alerts off
  within = "10m"
  command = ["notify-send", "belay"]      # gets the alert as JSON on stdin
  webhook = "https://example.com/hook"    # gets it posted
  [alert.claude]            # for one integration
  failures = 20`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "integration", Arg: "NAME", Group: Filters, Help: "only alerts of this integration"},
			}, times(), inFleet()),
		},
		{
			Name:     "audit",
			Use:      "audit",
			Unlisted: true,
			Summary:  "Show failures by kind, and what was changed by hand",
			Examples: `Show the last week:
  belay audit --since 7d
Show who has reset gates:
  belay audit --action gate_reset
Export what happened in a session:
  belay audit --session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66 --json`,
			Long: `The same as belay log --kind audit.

Shows failed runs, errors that a Go program has handled, and gates that were reset, held or opened by hand. Failures have a type, a category (connection, sdk,
unknown), a severity (warning if a retry made sense, else error), a message and context. Changes of gates have the reason.`,
			Flags: slices.Concat([]Flag{
				count("50"),
				{Name: "action", Arg: "ACTION", Group: Filters, Help: "only failure, gate_reset, gate_hold or gate_open",
					Values: []string{"failure", "gate_reset", "gate_hold", "gate_open"}, Closed: true},
				{Name: "session", Arg: "ID", Group: Filters, Help: "only events of this session"},
			}, narrowing(), times(), inFleet()),
		},
		{
			Name:    "prune",
			Use:     "prune (--older-than T | --max-size SIZE | --trees)",
			Summary: "Delete old records",
			Examples: `Delete what is older than 90 days:
  belay prune --older-than 90d
Delete the oldest until the record is small enough:
  belay prune --max-size 500MB
See what would be deleted:
  belay prune --older-than 2026-01-01 --dry-run
Remove trees whose work is on a branch, and branches that are landed:
  belay prune --trees`,
			Long: `Deletes runs, events, alerts, sessions and their files that are older than a time, or the oldest until the record is small enough. An old log is moved aside first, and
removed by a later call when everything in it is that old and is in the database. What is not in the database is never removed. --older-than also deletes the output of
detached runs that ended before then.

Trees that --worktree has made are only removed with --trees: those of ended runs in which everything is on a branch. A branch that is not landed stays, and so
does a tree with files that git ignores. See belay trees.`,
			Flags: []Flag{
				{Name: "older-than", Arg: "T", Help: "an age or a date: 90d, 2026-01-01"},
				{Name: "max-size", Arg: "SIZE", Help: "the size to keep on disk: 500MB, 2GB"},
				{Name: "trees", Help: "remove trees of ended runs whose work is on a branch, and branches that are landed"},
				{Name: "dry-run", Help: "print what would be deleted, and delete nothing"},
				{Name: "json", Help: "print JSON"},
			},
		},
		{
			Name:    "report",
			Use:     "report [-o FILE]",
			Summary: "Write runs, costs and health to one file",
			Examples: `Make a page of the last week, for a mail or an artifact:
  belay report -o report.html
Make one of a month of one project:
  belay report --since 30d --project . -o report.html
Add the figures to the summary of a job in GitHub Actions:
  belay report --format md --since 24h >> "$GITHUB_STEP_SUMMARY"`,
			Long: `Writes what belay ui shows of the past to one HTML file: what was spent, how reliable it was, which runs there were and which of them failed, with charts. The file loads nothing
from the network. With --format md it is the figures alone, as Markdown.

The report has the errors, names, tags and directories of runs in it, and no prompts and no output.`,
			Flags: slices.Concat([]Flag{
				{Name: "output", Short: "o", Arg: "FILE", Help: "replace FILE instead of printing"},
				{Name: "format", Arg: "NAME", Default: "html", Help: "html or md (default html)", Values: []string{"html", "md"}},
			}, []Flag{profile("only runs of this profile")}, labels(), reportTimes(), inFleet()),
		},
		{
			Name:    "metrics",
			Use:     "metrics [-o FILE]",
			Summary: "Print counters and gauges for Prometheus",
			Examples: `Print what there is:
  belay metrics
Write a file for node_exporter's textfile collector, from a timer:
  belay metrics -o /var/lib/node_exporter/textfile_collector/belay.prom`,
			Long: `Prints runs, attempts, waits, tokens, cost and durations in Prometheus' text format, and what is running and which gates are closed right now. The counters
count everything that was ever recorded: belay prune does not lower them. A file is replaced as a whole, and can be read by all users.`,
			Flags: []Flag{{Name: "output", Short: "o", Arg: "FILE", Help: "replace FILE instead of printing"}},
		},
		{
			Name:    Telemetry,
			Use:     "telemetry",
			Summary: "Send runs as OpenTelemetry traces, and metrics",
			Examples: `Send what is waiting, and see where it goes:
  belay telemetry
Keep sending, as a service:
  belay telemetry --follow
Forget what could not be sent:
  belay telemetry --discard`,
			Long: `Runs with --telemetry, BELAY_TELEMETRY=true or telemetry = true in config.toml are sent in the background when they end. This command sends what is still waiting,
because the receiver could not be reached, and says how things stand. OTEL_EXPORTER_OTLP_ENDPOINT says where to
(default http://localhost:4318), and OTEL_EXPORTER_OTLP_PROTOCOL how: http/protobuf or grpc. Prompts, arguments, output and error messages are never sent. Other standard variables: https://github.com/belay-run/belay/blob/main/docs/telemetry.md`,
			Flags: []Flag{
				{Name: "follow", Short: "f", Help: "keep sending until Ctrl-C: runs as they end, metrics once a minute"},
				{Name: "discard", Help: "send nothing, and forget the runs that are waiting"},
				{Name: "json", Help: "print JSON"},
			},
		},
		{Name: MCP, Hidden: true, Flags: []Flag{{Name: "settings", Arg: "JSON", Help: "what the flags of belay mcp say", Hidden: true}}},
		{Name: Fold, Hidden: true, Flags: []Flag{{Name: Telemetry, Help: "also send telemetry", Hidden: true}}},
		{Name: CheckDatabase, Hidden: true},
		{Name: Courier, Hidden: true, Flags: []Flag{{Name: "dsn", Arg: "DSN", Hidden: true}}},
		{Name: FleetPs, Hidden: true, Flags: shownFleet()},
		{Name: FleetGates, Hidden: true, Flags: shownFleet()},
		{Name: FleetBudget, Hidden: true, Flags: shownFleet(), Args: Args{What: "budget"}},
	}
}

// ofSession is a command about one session, which its first argument names.
func ofSession(verb, summary, examples, long string, flags ...Flag) Command {
	long += "\n\nDetails: https://github.com/belay-run/belay/blob/main/docs/sessions.md"
	example := "belay sessions " + verb + " 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"
	return Command{Name: "sessions " + verb, Use: verb + " [flags] ID", Summary: summary, Examples: examples, Long: long, Flags: flags,
		Args: Args{What: "session", Example: example}}
}

// count is -n.
func count(usual string) Flag {
	return Flag{Name: "n", Short: "n", Arg: "N", Default: usual, Help: "show the newest N; 0 for all (default " + usual + ")"}
}

// times are the flags of all commands that look at the past.
func times() []Flag {
	return []Flag{
		{Name: "since", Arg: "T", Group: Filters, Help: "start at T: 2h, 7d, 14:30, yesterday, 2026-11-01, 2026-11-01T14:30:00Z",
			Values: []string{"1h", "24h", "7d", "today", "yesterday"}},
		{Name: "until", Arg: "T", Group: Filters, Help: "end before T, written as for --since"},
		{Name: "json", Help: "print JSON, one object per line"},
	}
}

// reportTimes are the flags that say which time a report is about.
func reportTimes() []Flag {
	list := times()[:2]
	list[0].Default, list[0].Help = "7d", list[0].Help+" (default 7d); all for everything"
	return list
}

// narrowing are the flags that choose among runs.
func narrowing() []Flag {
	classes := []string{"failed"}
	for _, c := range verdict.Classes() {
		classes = append(classes, string(c))
	}
	return []Flag{
		profile("only runs of this profile"),
		{Name: "class", Arg: "CLASS", Group: Filters, Help: "only results of this class; failed means all but ok", Values: classes},
	}
}

// labels are the flags that choose by the labels of runs.
func labels() []Flag {
	return []Flag{
		{Name: "name", Arg: "NAME", Group: Filters, Help: "only runs with this name"},
		{Name: "tag", Arg: "KEY=VALUE", Group: Filters, Help: "only runs with this tag; may be repeated", Several: true},
		{Name: "project", Arg: "DIR", Group: Filters, Help: "only runs in the repository of this directory"},
	}
}

// ofBatch is the flag that chooses the tasks of a batch.
func ofBatch() []Flag {
	return []Flag{{Name: "batch", Arg: "RESULTS", Group: Filters, Help: "only the tasks of the batch with these results"}}
}

func profile(help string) Flag {
	return Flag{Name: "profile", Arg: "NAME", Group: Filters, Help: help, Values: config.Profiles()}
}
