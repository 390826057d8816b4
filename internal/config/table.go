package config

import (
	"strings"
	"time"

	"github.com/belay-run/belay/internal/profile"
)

// Groups are the headings of the table, in order.
var Groups = []string{"Retries and waits", "Time limits", "What to retry",
	"Input and output", "Results and messages", "Limits shared with other processes", "Sessions and cost of agents", "Other"}

// Table holds every setting.
var Table = []Setting{
	{"max-retries", "N", "retry at most N times, counting waits for limits; 0 turns off retries and waits", Groups[0], Lower,
		number(func(s *Settings) *int { return &s.MaxRetries }, 0, 1_000_000)},
	{"preset", "NAME", "use a named retry policy. One of: " + strings.Join(profile.Presets(), ", "), Groups[0], Narrow, setPreset},
	{"base-delay", "D", "delay before the first retry (default 1s)", Groups[0], Raise,
		duration(func(s *Settings) *time.Duration { return &s.BaseDelay })},
	{"max-delay", "D", "longest delay between retries, unless the service asks for more (default 60s)", Groups[0], Raise,
		duration(func(s *Settings) *time.Duration { return &s.MaxDelay })},
	{"factor", "F", "multiply the delay by F after each retry (default 2)", Groups[0], Raise, setFactor},
	{"jitter", "KIND[:V]", "how delays are spread: full, proportional:0.2, additive:0.25, plus:1s or none (default full)", Groups[0], Raise, setJitter},
	{"max-wait", "D", "wait at most D in total (default 5m, and at most 20 starts)", Groups[0], Lower,
		duration(func(s *Settings) *time.Duration { return &s.MaxWait })},
	{"no-wait", "", "fail instead of waiting", Groups[0], User,
		boolean(func(s *Settings) *bool { return &s.NoWait })},

	{"timeout", "D", "stop an attempt after D; also limits the wait for stdin before the first one (default none)", Groups[1], Lower,
		duration(func(s *Settings) *time.Duration { return &s.Timeout })},
	{"total-timeout", "D", "stop everything after D, waits included (default none)", Groups[1], Lower,
		duration(func(s *Settings) *time.Duration { return &s.TotalTimeout })},
	{"stall-timeout", "D", "stop an attempt that shows no activity for D; 0 turns this off (default none; agents have limits of their own)", Groups[1], Lower,
		duration(func(s *Settings) *time.Duration { return &s.StallTimeout })},
	{"retry-timeouts", "N", "retry an attempt that hit --timeout at most N times (default 0)", Groups[1], Lower,
		number(func(s *Settings) *int { return &s.RetryTimeouts }, 0, 1_000_000)},

	{"retry-on-exit", "CODES", "retry only on these exit codes, such as 1,75 (128+n for signal n)", Groups[2], User, setCodes},
	{"retry-on", "REGEX", "retry only failures whose output matches", Groups[2], User,
		pattern(func(s *Settings) *string { return &s.RetryOn })},
	{"fail-on", "REGEX", "treat matching output as a failure, even with exit code 0, and do not retry it", Groups[2], User,
		pattern(func(s *Settings) *string { return &s.FailOn })},

	{"retry-unsafe", "", "retry even if the change may already have been made", Groups[2], PerCall,
		boolean(func(s *Settings) *bool { return &s.RetryUnsafe })},
	{"verify-effect", "", "after a failure, check whether the change was made: if so it counts as done, if certainly not it is retried", Groups[2], User,
		boolean(func(s *Settings) *bool { return &s.VerifyEffect })},
	{"rate-limit-buffer", "D", "wait this much longer than GitHub's limits ask for (default 5s)", Groups[0], Raise,
		duration(func(s *Settings) *time.Duration { return &s.LimitBuffer })},

	{"prompt", "TEXT", "send TEXT to the command's stdin on every attempt; - reads it from stdin", Groups[3], PerCall,
		text(func(s *Settings) *string { return &s.Prompt })},
	{"prompt-file", "FILE", "send the contents of FILE to the command's stdin on every attempt", Groups[3], PerCall,
		text(func(s *Settings) *string { return &s.PromptFile })},
	{"no-stdin", "", "give the command no input (useful in shell loops)", Groups[3], PerCall,
		boolean(func(s *Settings) *bool { return &s.NoStdin })},
	{"replay-stdin", "", "keep stdin and send it again on every attempt", Groups[3], PerCall,
		boolean(func(s *Settings) *bool { return &s.ReplayStdin })},
	{"stream", "", "print output as it comes, including that of failed attempts", Groups[3], User,
		boolean(func(s *Settings) *bool { return &s.Stream })},

	{"output-format", "text|json", "replace the command's stdout with Belay's result", Groups[4], User,
		choice(func(s *Settings) *string { return &s.OutputFormat }, "text", "json")},
	{"result-file", "FILE", "write the result to FILE as JSON", Groups[4], PerCall,
		text(func(s *Settings) *string { return &s.ResultFile })},
	{"github", "", "report to GitHub Actions: annotations on stderr, a summary and outputs of the step", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.GitHub })},
	{"exit-code", "child", "exit with the command's own exit code whenever it has one", Groups[4], User,
		choice(func(s *Settings) *string { return &s.ExitCodeOut }, "child")},
	{"notify-after", "D", "notify you when a run longer than D ends, or continues after a wait that long, by terminal or desktop; 0 turns this off (default off)", Groups[4], User,
		duration(func(s *Settings) *time.Duration { return &s.NotifyAfter })},
	{"quiet", "", "print nothing but the final error", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.Quiet })},
	{"verbose", "", "print every step, and the stderr of failed attempts", Groups[4], User,
		boolean(func(s *Settings) *bool { return &s.Verbose })},

	{"profile", "NAME", "treat the command as " + profile.Or(Profiles) + " (default: by its name)", Groups[7], PerCall,
		text(func(s *Settings) *string { return &s.Profile })},
	{"cwd", "DIR", "run the command in DIR", Groups[7], PerCall,
		text(func(s *Settings) *string { return &s.Cwd })},
	{"reap", "", "stop whatever the command leaves running, even after a success", Groups[7], User,
		boolean(func(s *Settings) *bool { return &s.Reap })},
	{"gate", "KEY", "share limits, failures and slots with every process that uses the same KEY", Groups[5], User, name(func(s *Settings) *string { return &s.Gate })},
	{"no-gate", "", "use no gate", Groups[5], User,
		boolean(func(s *Settings) *bool { return &s.NoGate })},
	{"max-parallel", "N", "run at most N commands through the gate at a time", Groups[5], Lower,
		number(func(s *Settings) *int { return &s.MaxParallel }, 1, 10_000)},
	// What opens a breaker opens it for every command at the gate, also outside of the project.
	{"breaker-failures", "N", "open the circuit breaker after N failed runs in a row, across all processes (default 5)", Groups[5], User,
		number(func(s *Settings) *int { return &s.BreakerFailures }, 1, 1_000_000)},
	{"breaker-open", "D", "keep the breaker open for D, doubling up to ten times that (default 60s)", Groups[5], User,
		duration(func(s *Settings) *time.Duration { return &s.BreakerOpen })},
	{"breaker-successes", "N", "close the breaker after N successful probes (default 2)", Groups[5], User,
		number(func(s *Settings) *int { return &s.BreakerSuccesses }, 1, 1_000_000)},
	{"scope", "KEY", "allow only one run with this KEY at a time, across all processes", Groups[5], PerCall, name(func(s *Settings) *string { return &s.Scope })},
	{"on-busy", "wait|replace|fail", "what to do when the scope is taken: wait, replace its run, or fail (default wait)", Groups[5], User,
		choice(func(s *Settings) *string { return &s.OnBusy }, "wait", "replace", "fail")},

	{"resume", "ID|last", "continue session ID, or the last session in this directory", Groups[6], PerCall,
		text(func(s *Settings) *string { return &s.Resume })},
	{"resume-or-new", "ID|last", "like --resume, but start a new session if there is none to continue", Groups[6], PerCall,
		text(func(s *Settings) *string { return &s.ResumeOrNew })},
	{"resume-prompt", "TEXT", "what to tell a session that continues after a failed attempt (default: Continue where you left off.)", Groups[6], User,
		text(func(s *Settings) *string { return &s.ResumePrompt })},
	{"no-resume-on-retry", "", "start a new session for every retry, even if that pays twice", Groups[6], User,
		boolean(func(s *Settings) *bool { return &s.NoResumeOnRetry })},
	{"max-cost", "USD", "stop an agent before its next model call once the run has cost USD, including agents that it runs with belay", Groups[6], User, setCost},
	{"budget", "NAME[=USD/WINDOW]", "count the cost towards budget NAME, and start nothing once it is used up; =5/day, week or month sets the limit", Groups[6], User, setBudgets},
	{"log-dir", "DIR", "where claude's log of invocations is kept (default .logs in the working directory); none turns it off", Groups[4], User,
		text(func(s *Settings) *string { return &s.LogDir })},

	{"name", "NAME", "name the run, and the runs inside it, in log, ps, stats, alerts and results", Groups[4], User, setName},
	{"tag", "KEY=VALUE", "label the run, and the runs inside it, to find and add them up by, such as team=web; may be repeated", Groups[4], User, setTags},

	{"dry-run", "", "print what would be done, and do nothing", Groups[7], PerCall,
		boolean(func(s *Settings) *bool { return &s.DryRun })},
}
