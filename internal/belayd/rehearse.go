package belayd

// rehearsals are the commands that try things against services that fail on purpose.
func rehearsals() []Command {
	return []Command{
		{
			Name:    Rehearse,
			Use:     "rehearse --script SCRIPT [flags] -- command [args…]",
			Summary: "Try a command against stand-in APIs that fail on purpose",
			Examples: `See what claude does when it is throttled twice:
  belay rehearse --script '429(retry-after=2)x2, 200' -- claude -p hi
Lose the connection in the middle of the work:
  belay rehearse --script 'tool(bash: make test), drop-mid, 200' -- codex exec x
Use up a plan for three hours, and print the report as JSON:
  belay rehearse --script 'usage-limit(resets=3h)' --json -- claude -p hi
Allow 20 requests a minute to a pipeline:
  belay rehearse --script 'limit(20/60s)' -- ./my-pipeline.sh`,
			Long: `Starts stand-ins for the APIs of Anthropic, OpenAI, Google and GitHub on loopback and runs the command as belay run would. The command gets a key that opens nothing
and a home of its own. Afterwards it reports on stderr what was requested and when, what was answered, and what belay made of it. Nothing is spent, and the agents talk
to no one else. The exit code is that of belay run.

A script is a list of steps, one for each request that is part of the work:

  200, 429, 529 …     a status
  hang, reset, refuse, garbage, slow(2s)
  tool(bash: …)       has the agent run a command
  usage-limit(resets=3h), overloaded, limit(20/60s), mix(5%, seed=1)
  drop-mid, end-mid, hang-mid, garbage-mid, overloaded-mid, error-mid(code=…)
                      fail in the middle of an answer
  lost, primary(resets=2s), secondary(retry-after=2)
                      GitHub only

In parentheses: retry-after, text, in, out, message, body, after … or any header. x3 repeats a step three times, x* for ever. After the script every request succeeds.
The flags of belay run can be used too. All of it: https://github.com/belay-run/belay/blob/main/docs/rehearsal.md`,
			Flags: []Flag{
				{Name: "script", Arg: "SCRIPT", Help: "what the stand-ins do; @FILE reads it from a file"},
				{Name: "script-file", Arg: "FILE", Help: "read the script from FILE"},
				{Name: "dir", Arg: "DIR", Help: "keep homes, sessions and state in DIR (default: a temporary directory)"},
				{Name: "json", Help: "print the report as JSON on stdout instead of the command's output"},
				{Name: "report-file", Arg: "FILE", Help: "write the report to FILE as JSON"},
				{Name: "result-file", Arg: "FILE", Help: "where belay run writes its result", Hidden: true},
			},
			Args: Args{What: "command", Example: "belay rehearse --script '429x2, 200' -- claude -p hi", Command: true},
		},
		{
			Name:    RehearseTest,
			Use:     "test [flags] [FILE|DIR…]",
			Summary: "Test programs against services that fail on purpose",
			Examples: `Run all scenarios of a directory:
  belay rehearse test scenarios
Write a report that CI systems read, four at a time:
  belay rehearse test -j 4 --junit report.xml scenarios
Let a new scenario say what your program does now:
  belay rehearse test --update scenarios/new.toml
Turn a bad run of last night into a scenario:
  belay rehearse test --record 0199a3f2 > scenarios/last-night.toml`,
			Long: `A scenario is a file that says what the stand-ins do, which program is tried (a script, an SDK's, gh, an agent with or without belay), and what is expected
of it: exit code, requests and waits, output, files, effects, cost, and that nothing is left running. Each has a service and a home of its own; nothing is spent.

The exit code is 1 if a scenario is not as expected, and 2 if a file has a mistake, which is named with its line; then nothing is started. To begin: belay rehearse init

All that a scenario can say: https://github.com/belay-run/belay/blob/main/docs/testing.md`,
			Flags: []Flag{
				sideBySide(),
				{Name: "junit", Arg: "FILE", Help: "write the report to FILE as JUnit does"},
				{Name: "json", Help: "print an object for each scenario, one a line"},
				{Name: "github", Help: "annotate and summarize for GitHub Actions (on by itself there)"},
				{Name: "update", Help: "write what is seen as what is expected, and show the difference"},
				{Name: "record", Arg: "RUN", Help: "print a scenario that plays what a run of the log met"},
			},
			Args: Args{What: "file", Example: "belay rehearse test scenarios", Several: true},
		},
		{
			Name:    RehearseInit,
			Use:     "init [DIR]",
			Summary: "Write three scenarios to begin with",
			Examples: `Write them to the directory scenarios:
  belay rehearse init`,
			Long: `Writes three commented scenarios for the agents that are installed, to DIR (default: scenarios). Files that are there are left as they are.`,
			Args: Args{What: "directory", Example: "belay rehearse init scenarios"},
		},
		{
			Name:    Certify,
			Use:     "certify [flags] [AGENT…]",
			Summary: "Try Belay's promises with the agents that are installed",
			Examples: `Try all agents that are installed:
  belay certify
See in CI whether an update of claude has broken a promise:
  belay certify --against certified.json claude`,
			Long: `Runs 25 scenarios with each agent against stand-ins on loopback: limits of every kind, overloads, hangs, broken answers, keys, billing, resume, stop. Each is a promise of
Belay's, and holds with this very version or not. Nothing is spent. What was seen is kept, by the version and the hash of the executable.

The exit code is 1 if a promise does not hold; with --against, only if one does not that held in that report.`,
			Flags: []Flag{
				sideBySide(),
				{Name: "json", Help: "print an object for each agent, one a line"},
				{Name: "against", Arg: "FILE", Help: "a report of --json: fail only for promises that held there"},
			},
			Args: Args{What: "agent", Example: "belay certify claude", Several: true},
		},
		{
			Name:    Demo,
			Use:     "demo",
			Summary: "See a limit, a wait, a success and a circuit breaker",
			Examples: `Watch belay at work for half a minute:
  belay demo`,
			Long: `Runs belay a few times against a stand-in for an API that fails on purpose. Everything you see really happens, on loopback. Nothing has to be installed, no key
is needed, nothing is spent, and your own record does not change.`,
		},
	}
}

func sideBySide() Flag {
	return Flag{Name: "jobs", Short: "j", Arg: "N", Help: "how many run side by side (default: two for each core)"}
}
