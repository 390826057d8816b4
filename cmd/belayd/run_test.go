package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/internal/version"
	"github.com/belay-run/belay/verdict"
)

// answer is the output and the exit code of a call of belayd.
type answer struct {
	t              *testing.T
	args           []string
	code           int
	stdout, stderr string
}

// asked calls belayd as belay does.
func asked(t *testing.T, args ...string) answer {
	t.Helper()
	return called(t, append([]string{"--for", version.Pair(), "--belay", "belay"}, args...)...)
}

func called(t *testing.T, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := table().Run(t.Context(), args, nil, &stdout, &stderr)
	return answer{t, args, code, stdout.String(), stderr.String()}
}

// is checks the exit code, and what stdout (or stderr, after a failure) contains.
func (a answer) is(code int, want ...string) answer {
	a.t.Helper()
	text, other := a.stdout, a.stderr
	if code != 0 {
		text, other = a.stderr, a.stdout
	}
	if a.code != code || other != "" {
		a.t.Fatalf("belayd %q: exit code %d, want %d\nstdout: %s\nstderr: %s", a.args, a.code, code, a.stdout, a.stderr)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			a.t.Errorf("belayd %q lacks %q:\n%s", a.args, w, text)
		}
	}
	return a
}

// seedRecord makes a state directory with some runs on record: one of an agent that succeeded at the second attempt, one
// that failed for good, a hook that failed, an alert and a gate that was held by hand.
func seedRecord(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("BELAY_STATE_DIR", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("TZ", "UTC")
	now := time.Now().Add(-time.Minute)
	at := func(s int) journal.Time { return journal.Time{Time: now.Add(time.Duration(s) * time.Second)} }
	zero, five := 0, 5
	log := journal.Log{Path: filepath.Join(dir, "log.jsonl")}
	for _, e := range []journal.Entry{
		{Timestamp: at(0), Invocation: "run-aaaaaaaa", Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Retry, ErrorType: verdict.Overloaded,
			Error: "API Error: 529", Rule: "overloaded", ExitCode: 1, WaitTime: 2, ResponseTime: 1, Session: "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", Model: "opus"},
		{Timestamp: at(3), Invocation: "run-aaaaaaaa", Profile: "claude", Command: "claude", Attempt: 2, Status: journal.Success, BelayCode: &zero, ResponseTime: 1.5,
			Session: "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", Model: "opus", Requests: 2, Usage: json.RawMessage(`{"input_tokens":1200,"output_tokens":34,"total_cost_usd":0.25}`),
			FirstToken: 0.25, InnerRetries: 1, Parent: "run-00000000", Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
			Tools: []journal.Tool{{Name: "Bash", Count: 3, Time: 0.5}}},
		{Timestamp: at(10), Invocation: "run-bbbbbbbb", Profile: "generic", Command: "curl", Attempt: 1, Status: journal.Error, ErrorType: verdict.Network,
			Error: "connection reset", Rule: "network", ExitCode: 5, BelayCode: &five, ResponseTime: 0.5, Gate: "api"},
		{Timestamp: at(20), Kind: journal.Hook, Event: "crash", Profile: "hook:guard", Command: "guard", Status: journal.Error, ErrorType: verdict.Crash, Error: "exited 1"},
		{Timestamp: at(30), Kind: journal.Alert, Event: "raised", Profile: "claude", Invocation: "run-bbbbbbbb", Error: "connection reset", Detail: json.RawMessage(`{"failures":5,"within_s":600}`)},
		{Timestamp: at(40), Kind: journal.Audit, Event: "gate_hold", Gate: "api", Status: journal.Success, Detail: json.RawMessage(`{"reason":"maintenance"}`)},
	} {
		must.OK(t, log.Append(e))
	}
}

func TestRun_Questions(t *testing.T) {
	seedRecord(t)
	asked(t, "log", "--").is(0, "TIME", "RESULT", "aaaaaaaa", "claude", "1,200 in, 34 out", "$0.2500", "bbbbbbbb", "network error", "connection reset",
		"\nalso on record: 1 failure of hooks, MCP servers or Go programs; see: belay log --kind events\n")
	if got := asked(t, "log", "--profile=claude", "--"); strings.Contains(got.stdout, "also on record") {
		t.Errorf("the failure of a hook is said to be claude's:\n%s", got.stdout)
	}
	asked(t, "log", "--n=1", "--").is(0, "bbbbbbbb")
	asked(t, "log", "--attempts=true", "--").is(0, "overloaded server, retried", "WAITED", "2s")
	asked(t, "log", "--", "aaaaaaaa").is(0, "run        run-aaaaaaaa\n", "model      opus\n", "attempt 1: overloaded server after 1s", "rule: overloaded\n", "→ retried after 2s\n", "tools: Bash ×3 500ms\n", "cost $0.2500", "requests   2",
		"parent     run-00000000\n", "trace      00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n", "(first token after 250ms)", "(the command itself retried once)")
	asked(t, "log", "--invocation=bbbbbbbb", "--").is(0, "result     network error, exit code 5\n", "gate       api\n")
	asked(t, "log", "--", "aaaaaaaa", "bbbbbbbb").is(2, "belay log takes the id of one run, not 2")
	asked(t, "log", "--", "nothing").is(2, `no run has the id "nothing"; see: belay log`)
	asked(t, "log", "--", "run-").is(2, `2 runs match the id "run-"`)
	asked(t, "events", "--").is(0, "integration/", "hook/", "connection reset", "exited 1")
	asked(t, "events", "--category=hook", "--profile=nothing", "--").is(0, "no events on record\n")
	asked(t, "sessions", "--").is(0, "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", "done")
	asked(t, "sessions", "--", "zzzz").is(0, "no sessions on record\n")
	asked(t, "alerts", "--").is(0, "claude", "5 in 10m", "connection reset")
	asked(t, "alerts", "--integration=codex", "--").is(0, "no alerts on record\n")
	asked(t, "audit", "--").is(0, "gate_hold", "api", "failure", "connection reset")
	asked(t, "audit", "--action=gate_reset", "--").is(0, "nothing on record\n")
	asked(t, "stats", "--").is(0, "2 runs, 50.0 % ok, 3 attempts, 2 requests, waited 2s, tokens 1,200 in, 34 out, $0.2500; hooks and MCP servers failed once\n", "DAY", "MODEL", "PROFILE", "CLASS")
	asked(t, "stats", "--by=model", "--").is(0, "MODEL", "opus")
	asked(t, "stats", "--since=2h", "--until=1h", "--").is(0, "nothing on record for this period\n")
	asked(t, "prune", "--older-than=1d", "--dry-run=true", "--").is(0, "would delete 0 runs")
	asked(t, "prune", "--max-size=1GB", "--").is(0, "nothing to delete: the record is not larger than that")
}

// A run whose work was checked shows each round, and what it has cost; the statistics say how many were done, and have no columns for that without checks.
func TestRun_Checks(t *testing.T) {
	seedRecord(t)
	for _, args := range []string{"stats --", "stats --by=profile --", "stats --csv=true --"} {
		if got := asked(t, strings.Fields(args)...).is(0); strings.Contains(got.stdout, "TRY") || strings.Contains(got.stdout, "not_done") || strings.Contains(got.stdout, "DONE") || strings.Contains(got.stdout, "done") {
			t.Errorf("%s without checks:\n%s", args, got.stdout)
		}
	}
	log := journal.Log{Path: filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl")}
	now := time.Now().Add(-time.Minute)
	attempt := func(run string, n int, status journal.Status, check journal.Check) {
		e := journal.Entry{Timestamp: journal.Time{Time: now}, Invocation: "run-" + run, Profile: "claude", Command: "claude", Attempt: n, Status: status, ResponseTime: 20, Model: "opus",
			Check: &check, Usage: json.RawMessage(`{"input_tokens":10,"output_tokens":5,"total_cost_usd":0.125}`)}
		if n == 0 {
			e.ResponseTime, e.Usage = 0, nil
		}
		if !check.Passed {
			e.ErrorType, e.Error, e.Rule = verdict.NotDone, "claude is not done", "check"
		}
		must.OK(t, log.Append(e))
		now = now.Add(time.Second)
	}
	attempt("cccccccc", 1, journal.Retry, journal.Check{ExitCode: 2, Time: 3.25})
	attempt("cccccccc", 2, journal.Retry, journal.Check{Round: 1, ExitCode: -1, Time: 600})
	attempt("cccccccc", 3, journal.Success, journal.Check{Round: 2, Passed: true, Time: 4})
	attempt("dddddddd", 1, journal.Error, journal.Check{ExitCode: 1, Time: 0})
	attempt("eeeeeeee", 1, journal.Success, journal.Check{Passed: true, Time: 2})
	attempt("ffffffff", 0, journal.Success, journal.Check{Passed: true, Time: 7})
	asked(t, "log", "--", "cccccccc").is(0, "attempt 1: not done after 20s, exit code 0\n", "           the check failed with exit code 2 after 3.3s\n",
		"           round 1: the check failed without an exit code after 10m\n", "attempt 3: ok after 20s", "           round 2: the check passed after 4s\n", "10 in, 5 out, cost $0.1250\n", "cost       $0.3750\n")
	asked(t, "log", "--", "ffffffff").is(0, "nothing to do: ok\n           the check passed after 7s\n")
	asked(t, "log", "--attempts=true", "--").is(0, "not done, retried", "not done  ")
	asked(t, "log", "--json=true", "--", "cccccccc").is(0, `"check":{"round":1,"passed":false,"exit_code":-1,"time":600}`)
	asked(t, "log", "--class=not_done", "--json=true", "--").is(0, `"class":"not_done"`)
	asked(t, "stats", "--").is(0, "6 runs, 66.7 % ok, 8 attempts, 2 requests, 1 done at the first try, 1 done after feedback, 1 not done, waited 2s", "FIRST TRY  FEEDBACK  NOT DONE")
	asked(t, "stats", "--json=true", "--").is(0, `"done_first":1,"done_later":1,"not_done":1`)
	asked(t, "stats", "--csv=true", "--").is(0, ",estimated_costs,done_first,done_later,not_done\n", ",1,1,1\n")
}

// What programs read: an object a line, and CSV that a spreadsheet opens.
func TestRun_QuestionsForPrograms(t *testing.T) {
	seedRecord(t)
	for line, want := range map[string]int{
		"log": 2, "log --attempts=true": 3, "log --class=failed": 1, "log --profile=claude": 1, "log --session=3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66": 1, "log -- aaaaaaaa": 1, "events": 2, "sessions": 1, "alerts": 1,
		"audit": 2, "stats": 1, "stats --by=class": 1, "prune --older-than=1d": 1,
	} {
		name, rest, _ := strings.Cut(line, " ")
		got := asked(t, append([]string{name, "--json=true"}, strings.Fields(rest)...)...).is(0)
		n := 0
		for text := range strings.Lines(got.stdout) {
			if n++; !json.Valid([]byte(text)) || text[0] != '{' {
				t.Errorf("%s: %s", line, text)
			}
		}
		if n != want {
			t.Errorf("%s: %d lines, want %d:\n%s", line, n, want, got.stdout)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(asked(t, "stats", "--csv=true", "--by=profile").is(0).stdout)).ReadAll()
	if err != nil || len(rows) < 3 || rows[0][0] != "profile" {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestRun_Usage(t *testing.T) {
	seedRecord(t)
	for line, want := range map[string]string{
		"log --since=soon":                        `--since: "soon" is not a valid time`,
		"log --since=1h --until=2h":               "--since 1h is not before --until 2h",
		"log --n=some":                            `-n: "some" is not a number of lines. Use -n 20, or -n 0 for all`,
		"log --n=-1":                              `-n: "-1" is not a number of lines`,
		"log --class=nonsense":                    "or failed for all but ok",
		"log --nonsense":                          "flag provided but not defined: -nonsense",
		"stats --by=week":                         `--by: "week" is not day, profile, model, class, name, project, machine or tag.KEY`,
		"stats --csv=true --json=true":            "--csv and --json cannot be used together",
		"events --category=x":                     `--category: "x" is not integration, hook or mcp`,
		"sessions --status=x":                     `--status: "x" is not running, done, failed, interrupted or abandoned`,
		"audit --action=x":                        `--action: "x" is not failure, gate_reset, gate_hold or gate_open`,
		"prune":                                   "say what to delete, as in: belay prune --older-than 90d",
		"prune --older-than=1d --max-size=1":      "say what to delete",
		"prune --older-than=never":                `--older-than: "never" is not a valid time`,
		"prune --max-size=much":                   `--max-size: "much" is not a size, such as 500MB`,
		"prune --older-than=2999-01-01":           "is in the future",
		"demo please":                             "belay demo takes no arguments",
		"fold now":                                "belay fold takes no arguments",
		"rehearse --script=@missing -- x":         "cannot read the script",
		"rehearse --script=nonsense -- x":         "nonsense",
		"rehearse --script-file=missing.txt -- x": "cannot read the script",
	} {
		asked(t, strings.Fields(line)...).is(2, "belay: ", want)
	}
}

// A user who runs belayd directly is told which command to use instead.
func TestRun_ByHand(t *testing.T) {
	t.Setenv("BELAY_STATE_DIR", t.TempDir())
	called(t).is(0, "belayd is the companion of belay", "\n  belay log         Show past runs, or everything about one run\n")
	called(t, "--version").is(0, "belayd "+version.Full()+"\n")
	called(t, "log").is(2, "belayd is the companion of belay")
	called(t, "--nonsense").is(2, "belayd is the companion of belay")
	asked(t, "nonsense").is(2, "belayd is the companion of belay")
	for _, other := range []string{"9.9.9", "9.9.9/999", "9.9.9/"} {
		called(t, "--for", other, "--belay", "belay", "log").is(125, "belay: belay 9.9.9 does not work with belayd "+version.String()+". Install both from one release\n")
	}
	called(t, "--for", fmt.Sprint("9.9.9/", version.Format), "--belay", "belay", "log").is(0)
}

// A log that is followed shows what comes, until the context ends.
func TestRun_FollowEndsWithItsContext(t *testing.T) {
	seedRecord(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	over := make(chan int, 1)
	go func() {
		over <- table().Run(ctx, []string{"--for", version.Pair(), "--belay", "belay", "log", "--follow=true", "--json=true"}, nil, w, io.Discard)
		w.Close()
	}()
	lines := json.NewDecoder(r)
	next := func() (id string) {
		var line struct{ ID string }
		if err := lines.Decode(&line); err != nil {
			t.Error(err)
		}
		return line.ID
	}
	if a, b := next(), next(); a != "run-aaaaaaaa" || b != "run-bbbbbbbb" {
		t.Errorf("%s, %s", a, b)
	}
	log := journal.Log{Path: filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl")}
	zero := 0
	must.OK(t, log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: "run-cccccccc", Profile: "generic", Command: "ls", Attempt: 1, Status: journal.Success, BelayCode: &zero}))
	if c := next(); c != "run-cccccccc" {
		t.Errorf("%s", c)
	}
	cancel()
	if code := <-over; code != request.CodeStopped {
		t.Errorf("exit code %d", code)
	}
}

// A rehearsal runs belay with the stand-ins in its environment, and reports what it left. Its exit code is belay's.
func TestRun_Rehearse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("belay is a shell script here")
	}
	seedRecord(t)
	t.Setenv("HOME", t.TempDir())
	belay := filepath.Join(t.TempDir(), "belay")
	write(t, belay, `#!/bin/sh
[ "$1 $2" = "run --result-file" ] || exit 99
[ -n "$ANTHROPIC_BASE_URL" ] || exit 98
echo '{"success":false,"exit_code":7}' > "$3"
shift 3
cat
echo "ran $*"
exit 7
`, 0o700)
	report := filepath.Join(t.TempDir(), "report.json")
	var stdout, stderr bytes.Buffer
	code := table().Run(t.Context(), []string{"--for", version.Pair(), "--belay", belay, "rehearse", "--script=429, 200", "--report-file=" + report, "--", "--quiet=true", "--", "claude", "-p", "hi"},
		strings.NewReader("input\n"), &stdout, &stderr)
	if code != 7 || stdout.String() != "input\nran --quiet=true -- claude -p hi\n" || stderr.Len() == 0 {
		t.Errorf("exit code %d, %q, %q", code, stdout.String(), stderr.String())
	}
	if data, err := os.ReadFile(report); err != nil || !json.Valid(data) {
		t.Errorf("%s, %v", data, err)
	}
	stdout.Reset()
	code = table().Run(t.Context(), []string{"--for", version.Pair(), "--belay", belay, "rehearse", "--script=200", "--json=true", "--", "--", "ls"}, nil, &stdout, io.Discard)
	if code != 7 || !json.Valid(stdout.Bytes()) {
		t.Errorf("exit code %d, %q", code, stdout.String())
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), mode))
}
