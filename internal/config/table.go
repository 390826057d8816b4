package config

import (
	"strings"
	"time"

	"github.com/belay-run/belay/internal/profile"
)

// Groups are the headings of the table, in order.
var Groups = []string{"How often and how long to wait", "How long it may take", "What is worth repeating",
	"Input and output", "Reporting", "Other", "Sharing with other processes", "Sessions and cost of agents"}

// Table holds every setting.
var Table = []Setting{
	{"max-retries", "N", "retries after the first attempt, all of them counted; 0 turns retrying and waiting off and keeps the exit code", Groups[0], Lower,
		number(func(s *Settings) *int { return &s.MaxRetries }, 0, 1_000_000)},
	{"preset", "NAME", "a named policy: " + strings.Join(profile.Presets(), ", "), Groups[0], Narrow, setPreset},
	{"base-delay", "D", "wait before the first retry (1s)", Groups[0], Raise,
		duration(func(s *Settings) *time.Duration { return &s.BaseDelay })},
	{"max-delay", "D", "longest wait before a retry, hints aside (60s)", Groups[0], Raise,
		duration(func(s *Settings) *time.Duration { return &s.MaxDelay })},
	{"factor", "F", "what each delay is multiplied by (2)", Groups[0], Raise, setFactor},
	{"jitter", "KIND[:V]", "full, proportional:0.2, additive:0.25, plus:1s or none (full)", Groups[0], Raise, setJitter},
	{"max-wait", "D", "sum of all waits (5m, and at most 20 starts)", Groups[0], Lower,
		duration(func(s *Settings) *time.Duration { return &s.MaxWait })},
	{"no-wait", "", "never wait: fail where a wait would be needed", Groups[0], User,
		boolean(func(s *Settings) *bool { return &s.NoWait })},

	{"timeout", "D", "hard deadline of an attempt, and of the wait for stdin before the first (none)", Groups[1], Lower,
		duration(func(s *Settings) *time.Duration { return &s.Timeout })},
	{"total-timeout", "D", "hard deadline of everything, waits included (none)", Groups[1], Lower,
		duration(func(s *Settings) *time.Duration { return &s.TotalTimeout })},
	{"stall-timeout", "D", "end an attempt that shows no life for so long (none; agents have limits of their own, 0 turns them off)", Groups[1], Lower,
		duration(func(s *Settings) *time.Duration { return &s.StallTimeout })},
	{"retry-timeouts", "N", "how many attempts that ran into --timeout are repeated (0)", Groups[1], Lower,
		number(func(s *Settings) *int { return &s.RetryTimeouts }, 0, 1_000_000)},

	{"retry-on-exit", "CODES", "repeat only these exit codes, as 1,75 (128+n for signal n)", Groups[2], User, setCodes},
	{"retry-on", "REGEX", "repeat only failures whose output matches", Groups[2], User,
		pattern(func(s *Settings) *string { return &s.RetryOn })},
	{"fail-on", "REGEX", "output that matches is a failure, also with exit 0, and is not repeated", Groups[2], User,
		pattern(func(s *Settings) *string { return &s.FailOn })},

	{"retry-unsafe", "", "repeat also what may have been done all the same", Groups[2], PerCall,
		boolean(func(s *Settings) *bool { return &s.RetryUnsafe })},
	{"verify-effect", "", "look whether a failed change was made: found counts as done, surely absent is repeated", Groups[2], User,
		boolean(func(s *Settings) *bool { return &s.VerifyEffect })},
	{"rate-limit-buffer", "D", "wait so long beyond the reset of GitHub's limits (5s)", Groups[0], Raise,
		duration(func(s *Settings) *time.Duration { return &s.LimitBuffer })},

	{"prompt", "TEXT", "text for the command's stdin, the same for every attempt; - reads it from stdin", Groups[3], PerCall,
		text(func(s *Settings) *string { return &s.Prompt })},
	{"prompt-file", "FILE", "the same, from a file", Groups[3], PerCall,
		text(func(s *Settings) *string { return &s.PromptFile })},
	{"no-stdin", "", "the command reads nothing (for loops)", Groups[3], PerCall,
		boolean(func(s *Settings) *bool { return &s.NoStdin })},
	{"replay-stdin", "", "keep stdin and give it to every attempt", Groups[3], PerCall,
		boolean(func(s *Settings) *bool { return &s.ReplayStdin })},
	{"stream", "", "pass output on as it comes, that of failed attempts too", Groups[3], User,
		boolean(func(s *Settings) *bool { return &s.Stream })},

	{"output-format", "text|json", "replace the command's stdout by Belay's result", Groups[4], User,
		choice(func(s *Settings) *string { return &s.OutputFormat }, "text", "json")},
	{"result-file", "FILE", "write the result there as JSON", Groups[4], PerCall,
		text(func(s *Settings) *string { return &s.ResultFile })},
	{"exit-code", "child", "end with the command's own exit code wherever it has one", Groups[4], User,
		choice(func(s *Settings) *string { return &s.ExitCodeOut }, "child")},
	{"quiet", "", "say nothing but the final error", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.Quiet })},
	{"verbose", "", "say everything, show the stderr of failed attempts", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.Verbose })},

	{"profile", "NAME", "treat the command as this CLI: " + profile.Or(Profiles) + " (by its name)", Groups[5], PerCall,
		text(func(s *Settings) *string { return &s.Profile })},
	{"cwd", "DIR", "run the command there", Groups[5], PerCall,
		text(func(s *Settings) *string { return &s.Cwd })},
	{"reap", "", "end what the command leaves running, also after a success", Groups[5], User,
		boolean(func(s *Settings) *bool { return &s.Reap })},
	{"gate", "KEY", "share limits, failures and slots with every process that names the same key", Groups[6], User, name(func(s *Settings) *string { return &s.Gate })},
	{"no-gate", "", "take no part in any gate", Groups[6], User,
		boolean(func(s *Settings) *bool { return &s.NoGate })},
	{"max-parallel", "N", "how many runs of the gate may be under way at the same time", Groups[6], Lower,
		number(func(s *Settings) *int { return &s.MaxParallel }, 1, 10_000)},
	// What opens a breaker opens it for every command at the gate, also outside of the project.
	{"breaker-failures", "N", "failed runs in a row, over all processes, that open the breaker (5)", Groups[6], User,
		number(func(s *Settings) *int { return &s.BreakerFailures }, 1, 1_000_000)},
	{"breaker-open", "D", "how long it stays open, doubling up to ten times that (60s)", Groups[6], User,
		duration(func(s *Settings) *time.Duration { return &s.BreakerOpen })},
	{"breaker-successes", "N", "successful probes that close it (2)", Groups[6], User,
		number(func(s *Settings) *int { return &s.BreakerSuccesses }, 1, 1_000_000)},
	{"scope", "KEY", "only one run of this key at a time, over all processes", Groups[6], PerCall, name(func(s *Settings) *string { return &s.Scope })},
	{"on-busy", "wait|replace|fail", "what to do when the scope is taken (wait)", Groups[6], User,
		choice(func(s *Settings) *string { return &s.OnBusy }, "wait", "replace", "fail")},

	{"resume", "ID|last", "go on with this session, or with the last one of this directory", Groups[7], PerCall,
		text(func(s *Settings) *string { return &s.Resume })},
	{"resume-or-new", "ID|last", "the same, or a new session if there is no such one any more", Groups[7], PerCall,
		text(func(s *Settings) *string { return &s.ResumeOrNew })},
	{"resume-prompt", "TEXT", "what a session is told that goes on after a failed attempt (Continue where you left off.)", Groups[7], User,
		text(func(s *Settings) *string { return &s.ResumePrompt })},
	{"no-resume-on-retry", "", "begin anew after a failed attempt, also where that pays twice", Groups[7], User,
		boolean(func(s *Settings) *bool { return &s.NoResumeOnRetry })},
	{"max-cost", "USD", "stop an agent before its next model call once it has cost this much, with the agents that it runs by belay", Groups[7], User, setCost},
	{"budget", "NAME[=USD/WINDOW]", "count what agents cost towards this budget, and start none when it is used up; =5/day, week or month sets its limit", Groups[7], User, setBudgets},
	{"log-dir", "DIR", "where claude's own log of invocations is kept (.logs in the working directory); none turns it off", Groups[4], User,
		text(func(s *Settings) *string { return &s.LogDir })},

	{"name", "NAME", "what the run is called in log, ps, stats, alerts and results; runs inside it are called the same", Groups[4], User, setName},
	{"tag", "KEY=VALUE", "a label to find and add up runs by, as team=web; may be repeated, and is passed on to runs inside it", Groups[4], User, setTags},

	{"dry-run", "", "say what would be done, and do nothing", Groups[5], PerCall,
		boolean(func(s *Settings) *bool { return &s.DryRun })},
}
