package config

import (
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/retry"
)

// The headings of the table. They are constants, and so are all rows: what must be computed for them costs every start of Belay.
const (
	retries = "Retries and waits"
	limits  = "Time limits"
	which   = "What to retry"
	input   = "Input and output"
	results = "Results and messages"
	shared  = "Limits shared with other processes"
	agents  = "Sessions and cost of agents"
	checks  = "Checks of the work"
	trees   = "Trees of their own"
	ceiling = "Ceilings"
	other   = "Other"
)

// Groups are the headings, in order.
var Groups = []string{retries, limits, which, input, results, shared, agents, checks, trees, ceiling, other}

// Table holds every setting.
var Table = []Setting{
	{"max-retries", "N", "retry at most N times, counting waits for limits; 0 turns off retries and waits", retries, Lower,
		&number{func(s *Settings) *int { return &s.MaxRetries }, 0, 1_000_000}},
	{"preset", "NAME", "use a named retry policy. One of: {presets}", retries, Narrow, by(setPreset)},
	{"base-delay", "D", "longest delay before the first retry; --jitter says how much of it is waited, by default any part (default 1s)", retries, Raise,
		duration(func(s *Settings) *time.Duration { return &s.BaseDelay })},
	{"max-delay", "D", "longest delay between retries, unless the service asks for more (default 60s)", retries, Raise,
		duration(func(s *Settings) *time.Duration { return &s.MaxDelay })},
	{"factor", "F", "multiply the delay by F after each retry (default 2)", retries, Raise, by(setFactor)},
	{"jitter", "KIND[:V]", "how delays are spread: full, proportional:0.2, additive:0.25, plus:1s or none (default full)", retries, Raise, &typed[retry.Jitter]{func(s *Settings) *retry.Jitter { return &s.Jitter }, retry.ParseJitter}},
	{"max-wait", "D", "wait at most D in total (default 5m, and at most 20 starts)", retries, Lower,
		duration(func(s *Settings) *time.Duration { return &s.MaxWait })},
	{"no-wait", "", "fail instead of waiting", retries, UserOrJob,
		boolean(func(s *Settings) *bool { return &s.NoWait })},

	{"timeout", "D", "stop an attempt after D; also limits the wait for stdin before the first one (default none)", limits, Lower,
		&guard{duration(func(s *Settings) *time.Duration { return &s.Timeout })}},
	{"total-timeout", "D", "stop everything after D, waits included (default none)", limits, Lower,
		&guard{duration(func(s *Settings) *time.Duration { return &s.TotalTimeout })}},
	{"stall-timeout", "D", "stop an attempt that shows no activity for D; 0 turns this off (default none; agents have limits of their own)", limits, Lower,
		&guard{duration(func(s *Settings) *time.Duration { return &s.StallTimeout })}},
	{"retry-timeouts", "N", "retry an attempt that hit --timeout at most N times (default 0)", limits, Lower,
		&number{func(s *Settings) *int { return &s.RetryTimeouts }, 0, 1_000_000}},

	{"retry-on-exit", "CODES", "retry only on these exit codes, such as 1,75 (128+n for signal n)", which, UserOrJob, &guard{by(setCodes)}},
	{"retry-on", "REGEX", "retry only failures whose output matches", which, UserOrJob,
		&guard{pattern(func(s *Settings) *string { return &s.RetryOn })}},
	{"fail-on", "REGEX", "treat matching output as a failure, even with exit code 0, and do not retry it", which, UserOrJob,
		&guard{pattern(func(s *Settings) *string { return &s.FailOn })}},

	{"retry-unsafe", "", "retry even if the change may already have been made", which, CallOrJob,
		boolean(func(s *Settings) *bool { return &s.RetryUnsafe })},
	{"verify-effect", "", "after a failure, check whether the change was made: if so it counts as done, if certainly not it is retried", which, UserOrJob,
		&guard{boolean(func(s *Settings) *bool { return &s.VerifyEffect })}},
	{"rate-limit-buffer", "D", "wait this much longer than GitHub's limits ask for (default 5s)", retries, Raise,
		duration(func(s *Settings) *time.Duration { return &s.LimitBuffer })},

	{"prompt", "TEXT", "send TEXT to the command's stdin on every attempt; - reads it from stdin", input, PerCall,
		text(func(s *Settings) *string { return &s.Prompt })},
	{"prompt-file", "FILE", "send the contents of FILE to the command's stdin on every attempt", input, PerCall,
		text(func(s *Settings) *string { return &s.PromptFile })},
	{"no-stdin", "", "give the command no input (useful in shell loops)", input, PerCall,
		boolean(func(s *Settings) *bool { return &s.NoStdin })},
	{"replay-stdin", "", "keep stdin and send it again on every attempt", input, PerCall,
		boolean(func(s *Settings) *bool { return &s.ReplayStdin })},
	{"stream", "", "print output as it comes, including that of failed attempts", input, User,
		boolean(func(s *Settings) *bool { return &s.Stream })},

	{"output-format", "text|json", "replace the command's stdout with Belay's result", results, User,
		&choice{func(s *Settings) *string { return &s.OutputFormat }, []string{"text", "json"}}},
	{"result-file", "FILE", "write the result to FILE as JSON", results, PerCall,
		text(func(s *Settings) *string { return &s.ResultFile })},
	{"github", "", "report to GitHub Actions: annotations on stderr, a summary and outputs of the step", results, User,
		boolean(func(s *Settings) *bool { return &s.GitHub })},
	{"exit-code", "child", "exit with the command's own exit code whenever it has one", results, User,
		&choice{func(s *Settings) *string { return &s.ExitCodeOut }, []string{"child"}}},
	{"notify-after", "D", "notify you when a run longer than D ends, or continues after a wait that long, by terminal or desktop; 0 turns this off (default off)", results, User,
		duration(func(s *Settings) *time.Duration { return &s.NotifyAfter })},
	{"quiet", "", "print nothing but the final error", results, User,
		boolean(func(s *Settings) *bool { return &s.Quiet })},
	{"verbose", "", "print every step, and the stderr of failed attempts", results, User,
		boolean(func(s *Settings) *bool { return &s.Verbose })},

	{"profile", "NAME", "treat the command as {profiles} (default: by its name)", other, PerCall,
		text(func(s *Settings) *string { return &s.Profile })},
	{"cwd", "DIR", "run the command in DIR", other, PerCall,
		text(func(s *Settings) *string { return &s.Cwd })},
	{"reap", "", "stop whatever the command leaves running, even after a success", other, UserOrJob,
		boolean(func(s *Settings) *bool { return &s.Reap })},
	{"gate", "KEY", "share limits, failures and slots with every process that uses the same KEY", shared, UserOrJob, &guard{key(func(s *Settings) *string { return &s.Gate })}},
	{"no-gate", "", "use no gate", shared, User,
		boolean(func(s *Settings) *bool { return &s.NoGate })},
	{"max-parallel", "N", "run at most N commands through the gate at a time", shared, Lower,
		&guard{&number{func(s *Settings) *int { return &s.MaxParallel }, 1, 10_000}}},
	// What opens a breaker opens it for every command at the gate, also outside of the project.
	{"breaker-failures", "N", "open the circuit breaker after N failed runs in a row, across all processes (default 5)", shared, User,
		&number{func(s *Settings) *int { return &s.BreakerFailures }, 1, 1_000_000}},
	{"breaker-open", "D", "keep the breaker open for D, doubling up to ten times that (default 60s)", shared, User,
		duration(func(s *Settings) *time.Duration { return &s.BreakerOpen })},
	{"breaker-successes", "N", "close the breaker after N successful probes (default 2)", shared, User,
		&number{func(s *Settings) *int { return &s.BreakerSuccesses }, 1, 1_000_000}},
	{"scope", "KEY", "allow only one run with this KEY at a time, across all processes", shared, CallOrJob, key(func(s *Settings) *string { return &s.Scope })},
	{"on-busy", "wait|replace|fail", "what to do when the scope is taken: wait, replace its run, or fail (default wait)", shared, UserOrJob,
		&choice{func(s *Settings) *string { return &s.OnBusy }, []string{"wait", "replace", "fail"}}},

	{"resume", "ID|last", "continue session ID, or the last session in this directory", agents, PerCall,
		text(func(s *Settings) *string { return &s.Resume })},
	{"resume-or-new", "ID|last", "like --resume, but start a new session if there is none to continue", agents, PerCall,
		text(func(s *Settings) *string { return &s.ResumeOrNew })},
	{"resume-interrupted", "ID", "continue session ID, whose run was killed: it is told to continue, or the prompt starts a new session if there is none", agents, PerCall,
		text(func(s *Settings) *string { return &s.ResumeInterrupted })},
	{"hand-over", "", "if the service rejects a session, continue a repaired copy of it, or a new session that is told what was done", agents, UserOrJob,
		boolean(func(s *Settings) *bool { return &s.HandOver })},
	{"max-resume-cost", "USD", "hand over to a new session instead of continuing one whose history costs more than USD to send", agents, UserOrJob, &typed[float64]{func(s *Settings) *float64 { return &s.MaxResumeCost }, budget.ParseUSD}},
	{"resume-prompt", "TEXT", "what to tell a session that continues after a failed attempt (default: Continue where you left off.)", agents, User,
		text(func(s *Settings) *string { return &s.ResumePrompt })},
	{"no-resume-on-retry", "", "start a new session for every retry, even if that pays twice", agents, UserOrJob,
		boolean(func(s *Settings) *bool { return &s.NoResumeOnRetry })},
	{"max-cost", "USD", "stop an agent before its next model call once the run has cost USD, including agents that it runs with belay", agents, UserOrJob, &guard{&typed[float64]{func(s *Settings) *float64 { return &s.MaxCost }, budget.ParseUSD}}},
	{"require-model", "[=NAME]", "stop an agent before another model works than NAME (default: the one that its command line or environment names)", agents, UserOrJob, &guard{by(setModel)}},
	{"budget", "NAME[=USD/WINDOW]", "count the cost towards budget NAME, and start nothing once it is used up; =5/day, week or month sets the limit", agents, UserOrJob, &guard{by(setBudgets)}},
	{"reserve", "SHARE", "start nothing while less than SHARE of the account's limits is left, such as 20%, or by window: five_hour=20%,seven_day=10%", agents, UserOrJob, &guard{&typed[quota.Reserve]{func(s *Settings) *quota.Reserve { return &s.Reserve }, quota.ParseReserve}}},
	{"fallback", "AGENT[:MODEL]", "if a limit lasts too long or the service stays overloaded, send the request to this agent instead; repeat for more", agents, UserOrJob, by(setFallbacks)},
	{"fallback-after-work", "", "use fallbacks even if the agent has already worked on the request, which repeats its work", agents, PerCall,
		boolean(func(s *Settings) *bool { return &s.FallbackAfterWork })},
	{"log-dir", "DIR", "where claude's log of invocations is kept (default .logs in the working directory); none turns it off", results, User,
		&guard{text(func(s *Settings) *string { return &s.LogDir })}},

	{"check", "COMMAND", "accept a success only if COMMAND succeeds: a line for the shell, with the answer on stdin. If it fails, an agent is told why and continues", checks, UserOrJob, &guard{by(setCheck)}},
	{"check-rounds", "N", "tell an agent at most N times that the check failed (default 3)", checks, UserOrJob,
		&guard{&number{func(s *Settings) *int { return &s.CheckRounds }, 0, 1000}}},
	{"check-timeout", "D", "stop the check after D, which counts as a failure (default 10m)", checks, UserOrJob,
		&guard{duration(func(s *Settings) *time.Duration { return &s.CheckTimeout })}},
	{"check-prompt", "TEXT", "what to tell the agent before the check's output (default: The work is not done, …)", checks, UserOrJob,
		text(func(s *Settings) *string { return &s.CheckPrompt })},
	{"check-first", "", "run the check before the command, and start nothing if it succeeds", checks, UserOrJob,
		boolean(func(s *Settings) *bool { return &s.CheckFirst })},

	{"worktree", "[=REF]", "work in a git worktree of its own, made from REF (default: the commit that is checked out). The work ends as commits on a branch belay/NAME", trees, User, by(setWorktree)},
	{"worktree-dir", "DIR", "make trees in DIR (default: the state directory)", trees, User,
		text(func(s *Settings) *string { return &s.WorktreeDir })},
	{"worktree-setup", "COMMAND", "run COMMAND once in a new tree, such as npm ci: a line for the shell", trees, User, by(setWorktreeSetup)},
	{"land", "", "bring the work into the branch that is checked out, after the check: fast-forward, rebased or merged", trees, User,
		boolean(func(s *Settings) *bool { return &s.Land })},

	{"max-memory", "SIZE", "stop an attempt that uses more memory than SIZE, such as 4G, with all that it has started (default none)", ceiling, UserOrJob,
		&guard{size(func(s *Settings) *int64 { return &s.MaxMemory })}},
	{"min-free-disk", "SIZE", "stop an attempt, or start none, when less than SIZE is free where it works, in the home or in the temporary directory (default none)", ceiling, UserOrJob,
		&guard{size(func(s *Settings) *int64 { return &s.MinFreeDisk })}},
	{"max-agents", "N", "stop an agent that has more than N sub-agents at a time (default none)", ceiling, UserOrJob,
		&guard{&number{func(s *Settings) *int { return &s.MaxAgents }, 0, 1_000_000}}},
	{"max-repeats", "N", "stop an agent at the Nth identical tool call in a row (default none)", ceiling, UserOrJob,
		&guard{&number{func(s *Settings) *int { return &s.MaxRepeats }, 0, 1_000_000}}},

	{"name", "NAME", "name the run, and the runs inside it, in log, ps, stats, alerts and results", results, UserOrJob, by(setName)},
	{"tag", "KEY=VALUE", "label the run, and the runs inside it, to find and add them up by, such as team=web; may be repeated", results, User, by(setTags)},

	{"telemetry", "", "send the run, once it has ended, as an OpenTelemetry trace to where the OTEL_* variables say, and metrics with it (default off)", results, User,
		boolean(func(s *Settings) *bool { return &s.Telemetry })},

	{"keep-awake", "", "keep the machine from going to sleep while the run or batch lasts, waits included (default off)", other, User,
		boolean(func(s *Settings) *bool { return &s.KeepAwake })},

	{"no-record", "", "do not keep the run in the log, in which belay log and belay stats find it (default off)", results, User,
		&guard{boolean(func(s *Settings) *bool { return &s.NoRecord })}},

	{"keep-prompt", "", "keep the first 80 characters of the prompt, without secrets, with the run in the log of this machine and in its result (default off)", results, User,
		boolean(func(s *Settings) *bool { return &s.KeepPrompt })},

	{"no-output-tail", "", "leave the end of the output, at most 8 KiB, out of the JSON result of a command that failed each time (default off)", results, User,
		boolean(func(s *Settings) *bool { return &s.NoTail })},

	{"dry-run", "", "print what would be done, and do nothing", other, PerCall,
		boolean(func(s *Settings) *bool { return &s.DryRun })},
}

// Find returns the row for a name, nil if there is none.
func Find(name string) *Setting {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}
