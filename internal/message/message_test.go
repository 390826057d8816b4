package message_test

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/message/wording"
	"github.com/belay-run/belay/verdict"
)

var update = flag.Bool("update", false, "renew testdata/messages.golden")

const golden = "testdata/messages.golden"

// spoken is a message, as a person is shown it: what a caller looks for at the end of a result's error is left out where a command to
// type stands there.
type spoken struct {
	name string // of the function, and of the case if there are several
	text string
}

// messages calls every function of the package with values that occur.
func messages() (list []spoken) {
	say := func(name, text string) { list = append(list, spoken{name, message.WithoutLater(text, false)}) }
	at := time.Date(2000, 1, 1, 15, 0, 0, 0, time.UTC)
	day := time.Date(2000, 1, 3, 8, 0, 0, 0, time.UTC)
	refused, full := errors.New("connection refused"), errors.New("no space left on device")

	say("Started", message.Started(1, "claude", 4711))
	say("StillRunning", message.StillRunning("claude"))
	for _, class := range []verdict.Class{verdict.RateLimit, verdict.UsageLimit, verdict.Overloaded} {
		say("Failed/"+string(class), message.Failed("claude", class, "API Error: 529"))
	}
	for _, class := range []verdict.Class{verdict.ServerError, verdict.Network, verdict.Timeout, verdict.BadOutput, verdict.SessionBusy} {
		say("Failed/"+string(class), message.Failed("codex", class, "first line\nstream disconnected before completion"))
	}
	say("Failed/unknown", message.Failed("make", verdict.Unknown, "Error 2"))
	say("Retry", message.Retry(1, 5))
	say("Retry/not counted", message.Retry(3, 0))
	say("Retrying", message.Retrying("claude hit a rate limit", 1, 5, 2*time.Second, false))
	say("Retrying/as requested", message.Retrying("claude hit a rate limit", 2, 0, 17*time.Second, true))
	say("Retrying/at once", message.Retrying("make exited 2: Error 2", 1, 3, 0, false))
	say("InnerRetry", message.InnerRetry("codex", verdict.RateLimit, "exceeded retry limit", 2*time.Second))
	say("InnerRetry/network", message.InnerRetry("codex", verdict.Network, "stream disconnected before completion", 0))
	say("InnerRetryStopped", message.InnerRetryStopped("claude", "HTTP 401"))
	say("Succeeded", message.Succeeded("claude", 3, 7*time.Second))
	say("Stopping", message.Stopping("claude", "SIGINT"))
	say("SlowToStop", message.SlowToStop("claude"))
	say("LeftRunning", message.LeftRunning("make", []string{"4711 (node)", "4712 (sleep)"}))
	say("Reclaimed", message.Reclaimed([]string{"4711 (node)"}))
	say("LastOutput", message.LastOutput("compiling main.go"))
	say("Login", message.Login("claude /login"))
	say("Plain", message.Plain("claude", "--include-partial-messages"))
	say("UnknownOption", message.UnknownOption("claude", "--brand-new"))
	say("UntestedVersion", message.UntestedVersion("claude", "3.0.0", "newer than 2.1.325, the newest that is tested"))
	say("Alert", message.Alert("claude", 5, 10*time.Minute))
	say("StdinSilent", message.StdinSilent("claude"))
	say("StdinSkipped", message.StdinSkipped(3*time.Second))
	say("Verdict", message.Verdict(verdict.RateLimit, "http-429"))
	say("LastLine", message.LastLine("first line\nHTTP 429"))

	say("Exited", message.Exited("make", 2, "", verdict.Unknown, "", "Error 2"))
	say("Exited/without a word", message.Exited("false", 1, "", verdict.Unknown, "", ""))
	say("Exited/by a signal", message.Exited("make", 137, "SIGKILL", verdict.Crash, "", ""))
	say("Exited/matched", message.Exited("sync", 0, "", verdict.Unknown, message.OutputMatched(0, "--fail-on"), "0 files copied"))
	say("Exited/command not found", message.Exited("sh", 127, "", verdict.ToolMissing, "", ""))
	for _, class := range []verdict.Class{verdict.Auth, verdict.Billing, verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge, verdict.SessionNotFound,
		verdict.LimitReached, verdict.Refused, verdict.Blocked, verdict.Interrupted, verdict.Network} {
		say("Exited/"+string(class), message.Exited("claude", 1, "", class, "", "API Error: 400 what the service says"))
	}
	say("LimitHit", message.LimitHit("claude", verdict.UsageLimit, at))
	say("LimitHit/rate limit", message.LimitHit("claude", verdict.RateLimit, day))
	say("OutputMatched", message.OutputMatched(1, "--fail-on"))
	say("OutputMatched/library", message.OutputMatched(0, ""))
	say("TimedOut", message.TimedOut("claude", 2*time.Minute))
	say("TotalTimedOut", message.TotalTimedOut("claude", 10*time.Minute))
	say("Stalled", message.Stalled("claude", 5*time.Minute))
	say("StoppedRetrying/auth", message.StoppedRetrying("claude", verdict.Auth, "", true))
	say("StoppedRetrying/auth, evidence", message.StoppedRetrying("claude", verdict.Auth, "HTTP 401", true))
	say("StoppedRetrying/billing", message.StoppedRetrying("claude", verdict.Billing, "HTTP 402", true))
	say("StoppedRetrying/server error", message.StoppedRetrying("claude", verdict.ServerError, "HTTP 500", true))
	say("StoppedRetrying/not found", message.StoppedRetrying("claude", verdict.NotFound, "HTTP 404", true))
	say("StoppedRetrying/too often", message.StoppedRetrying("claude", verdict.Overloaded, "HTTP 529", false))
	say("StoppedRetrying/unknown", message.StoppedRetrying("claude", verdict.Unknown, "", false))
	say("Stopped", message.Stopped("claude", message.Interrupted("SIGINT")))
	say("Stopped/replaced", message.Stopped("claude", message.Replaced("0b1c9a3e")))
	say("NotifyDone", message.NotifyDone("claude", 192*time.Second, "$0.42"))
	say("NotifyDone/no cost", message.NotifyDone("make (nightly)", time.Hour, ""))
	say("NotifyFailed", message.NotifyFailed("claude", 192*time.Second, "", verdict.RateLimit, 75))
	say("NotifyFailed/unknown", message.NotifyFailed("make", 192*time.Second, "", verdict.Unknown, 2))
	say("NotifyStopped", message.NotifyStopped("claude", 192*time.Second, "~$0.10", message.Replaced("0b1c9a3e")))
	say("NotifyResumed", message.NotifyResumed("claude", 12*time.Minute, true))
	say("NotifyResumed/first", message.NotifyResumed("claude", 12*time.Minute, false))
	say("Stopped/cancelled", message.Stopped("claude", message.CancelledBy("belay cancel", 4711)))
	say("Stopped/cost", message.Stopped("claude", message.CostReached(message.Cost{What: "--max-cost", Spent: 0.5312, Limit: 0.5}, "")))
	say("Unread", message.Stopped("claude", message.Unread()))
	say("BrokenPipe", message.BrokenPipe("make"))
	say("NotAgain/spilled", message.NotAgain("make exited 2: Error 2", message.Spilled()))
	say("NotKept", message.NotKept("make", &os.PathError{Op: "write", Path: "/tmp/belay-held-1", Err: syscall.ENOSPC}))
	say("NoInterpreter", message.NoInterpreter("./deploy.py"))
	say("NotStarted", message.NotStarted("claude", message.TotalPassed(10*time.Minute)))
	say("StoppedBetween", message.StoppedBetween(message.Interrupted("SIGTERM")))
	say("NotPassedOn", message.NotPassedOn(full))
	say("GaveUp", message.GaveUp("make exited 2: Error 2", 4, 0, time.Time{}))
	say("GaveUp/inner retries", message.GaveUp("stopped claude: it kept hitting an overloaded server (HTTP 529)", 1, 3, time.Time{}))
	say("GaveUp/time", message.GaveUp("claude hit a server error: HTTP 503.", 4, 1, at))
	say("Later", message.Later("make exited 2: Error 2"))
	say("WithoutLater", message.WithoutLater(message.Later(message.LimitHit("claude", verdict.UsageLimit, at)), true))

	say("ProfileBuiltIn", message.ProfileBuiltIn("claude"))
	say("CommandBuiltIn", message.CommandBuiltIn("gh"))
	say("CommandTaken", message.CommandTaken("qwen", "qwen"))
	say("NotAProfileName", message.NotAProfileName("Qwen Code"))
	say("Missing", message.Missing())
	say("MustBeTables", message.MustBeTables("event"))
	say("HeadlessMissing", message.HeadlessMissing())
	say("OptionNotListed", message.OptionNotListed("-p"))
	say("NotAnOption", message.NotAnOption("prompt TEXT"))
	say("NotARung", message.NotARung("INT"))
	say("SessionMarkMissing", message.SessionMarkMissing())
	say("NewSessionNeedsUUID", message.NewSessionNeedsUUID())
	say("EventsMissing", message.EventsMissing())
	say("EventWithoutWhen", message.EventWithoutWhen())
	say("RuleMatchesAll", message.RuleMatchesAll())
	say("WhichProfile", message.WhichProfile())
	say("ProfileIsBuiltIn", message.ProfileIsBuiltIn("claude"))
	say("SaveOutcome", message.SaveOutcome("qwen"))
	say("NoOutcomes", message.NoOutcomes("qwen"))
	say("InFile", message.InFile("outcomes.jsonl", errors.New("line 3: unexpected end of JSON input")))
	say("OutcomesChecked", message.OutcomesChecked(17, 0))
	say("OutcomesChecked/one", message.OutcomesChecked(1, 0))
	say("OutcomesChecked/differ", message.OutcomesChecked(17, 2))

	say("NotWaiting/--max-wait", message.NotAgain(message.LimitHit("claude", verdict.UsageLimit, at), message.NotWaiting(message.Bound{Flag: "--max-wait", Limit: 5 * time.Minute})))
	say("NotWaiting/--no-wait", message.NotAgain("sync hit a rate limit: HTTP 429", message.NotWaiting(message.Bound{Flag: "--no-wait", At: at})))
	say("NotWaiting/library", message.NotWaiting(message.Bound{Limit: 5 * time.Minute}))
	say("NotWaiting/library, no wait", message.NotWaiting(message.Bound{At: day}))

	key, noWait := "claude:api.anthropic.com:9f2c", message.NotWaiting(message.Bound{Flag: "--no-wait"})
	hold := gate.Refusal{Kind: gate.KindHold, Reason: "rate_limit of claude", Until: at}
	open := gate.Refusal{Kind: gate.KindBreaker, Reason: "network of sh, exit 7", Until: at}
	opened := gate.Refusal{Kind: gate.KindBreaker, Reason: "opened by hand"}
	probe := gate.Refusal{Kind: gate.KindProbe, Reason: "overloaded of claude, exit 1", Until: at}
	slow := gate.Refusal{Kind: gate.KindSlowStart, Reason: "rate_limit of claude"}
	slots := gate.Refusal{Kind: gate.KindSlots, Reason: message.SlotsTaken(2)}
	say("Gate", message.Gate("api"))
	for _, r := range []gate.Refusal{hold, open, opened, probe, slow, slots} {
		say("GateState", message.GateState(r))
		if r != opened { // no wait would be long enough
			say("AtGate", message.AtGate(key, r))
			say("GateRefused", message.GateRefused(key, r, noWait, true))
		}
	}
	say("GateRefused", message.GateRefused(key, opened, "", true))
	say("GateRefused/library", message.GateRefused("api", hold, "", false))
	say("GateAnew", message.GateAnew("api", errors.New("gate file damaged, moved to api.json.damaged")))
	say("GateOff", message.GateOff("api", full))
	say("SlotsOff", message.SlotsOff("api", errors.New("no locks available")))
	say("GateFailing", message.GateFailing("gh", "gh:github.com:9f2c", 7, 10))
	say("GatesHealthy", message.GatesHealthy())
	say("RetriesSpent", message.NotAgain("claude hit a network error: connection reset", message.RetriesSpent(key, at, true)))
	say("RetriesSpent/library", message.RetriesSpent(key, time.Time{}, false))
	say("ScopeBusy", message.ScopeBusy("deploy", []string{"0b1c9a3e"}, false))
	say("ScopeBusy/replaced", message.ScopeBusy("deploy", []string{"0b1c9a3e"}, true))
	say("ScopeTaken", message.ScopeTaken("deploy", message.NotWaiting(message.Bound{Flag: "--on-busy fail"}), true))
	say("ScopeTaken/library", message.ScopeTaken("deploy", "", false))
	say("ScopeState", message.ScopeState("deploy"))
	say("ScopeOff", message.ScopeOff("deploy", full))
	say("When", message.When(at))
	say("When/another day", message.When(day))

	nightly := message.Cost{What: "budget nightly", Spent: 5.021, Limit: 5, Window: "day", Until: day}
	say("CostReached", message.CostReached(nightly, "belay budget nightly"))
	say("CostReached/unknown, run", message.CostReached(message.Cost{What: "--max-cost", Limit: 0.5, Unknown: 1}, ""))
	nightly.Unknown = 2
	say("CostReached/unknown, budget", message.CostReached(nightly, "belay budget nightly"))
	say("BudgetAnew", message.BudgetAnew("nightly", errors.New("budget file damaged, moved to nightly.json.damaged")))
	say("BudgetOff", message.BudgetOff("nightly", full))
	say("InnerCostOff", message.InnerCostOff(full))
	say("BudgetIncomplete", message.BudgetIncomplete("nightly"))
	say("BudgetLow", message.BudgetLow("nightly", 4.21, 5))
	say("CostUnknown", message.CostUnknown())
	say("NoBudgets", message.NoBudgets())
	say("NoBudget", message.NoBudget("nightly"))
	say("NewBudget", message.NewBudget("nightly"))
	say("BudgetWithoutLimit", message.BudgetWithoutLimit("nightly"))
	say("BudgetLimit", message.BudgetLimit("nightly"))
	say("BudgetReset", message.BudgetReset("nightly"))
	say("BudgetUnspent", message.BudgetUnspent("nightly"))
	say("BudgetOpen", message.BudgetOpen(0, day))
	say("BudgetOpen/low", message.BudgetOpen(84, day))
	say("BudgetClosed", message.BudgetClosed(0, day))
	say("BudgetClosed/unknown", message.BudgetClosed(2, day))

	say("SessionGone", message.SessionGone("0b1c9a3e-7d52-4f0e-9c2a-5d1e6f7a8b9c"))
	say("NoSession", message.NoSession("claude", true))
	say("InterruptedNeedsID", message.InterruptedNeedsID())
	say("ResumeOrNew", message.ResumeOrNew("last"))
	say("ResumeCommand", message.ResumeCommand("0b1c9a3e-7d52-4f0e-9c2a-5d1e6f7a8b9c", "claude -p 'go on'"))
	say("Continue", message.Continue("0b1c9a3e-7d52-4f0e-9c2a-5d1e6f7a8b9c", "claude -p 'go on'"))
	say("NotASession", message.NotASession("x", "01234567-89ab-cdef-0123-456789abcdef", "last"))
	say("StdinTimeout", message.StdinTimeout("claude", 3*time.Second, "--no-stdin"))
	say("StdinUnreadable", message.StdinUnreadable())
	say("StdinTooLarge", message.StdinTooLarge("claude", 10<<20))
	say("InputRead", message.NotAgain("sort exited 2", message.InputRead("sort", "--replay-stdin")))
	say("TooLong", message.TooLong(errors.New("argument 2 has 131072 bytes, and the system takes at most 131071"), false))
	say("TooLong/all", message.TooLong(errors.New(message.ArgumentsTooLong()), true))
	say("NoCommand", message.NoCommand())
	say("NULInArgument", message.NULInArgument())
	say("NoDir", message.NoDir("/src/app"))
	say("UnusableDir", message.UnusableDir("/src/app"))
	say("NotADir", message.NotADir("/src/app"))

	say("MayBeDone", message.MayBeDone())
	failed := "gh hit a network error: connection reset by peer"
	say("EffectUnknown", message.NotAgain(failed, message.EffectUnknown(false, nil, true)))
	say("EffectUnknown/verifiable", message.NotAgain(failed, message.EffectUnknown(true, nil, true)))
	say("EffectUnknown/failed", message.NotAgain(failed, message.EffectUnknown(true, refused, true)))
	say("EffectUnknown/library", message.EffectUnknown(true, refused, false))
	say("FoundDone", message.FoundDone("gh", "https://github.com/o/r/issues/12"))
	say("NoAnswer", message.NoAnswer("gh", "issue"))

	say("NoRecord", message.NoRecord(nil, full))
	say("NoRecord/without", message.NoRecord([]string{"gate api", "scope deploy"}, full))
	say("LogOff", message.LogOff("/src/app/.logs", full))
	say("LogSkipped", message.LogSkipped("/src/app/.logs", errors.New("it is a symbolic link")))
	say("NotADirectory", message.NotADirectory("/src/app/.logs"))
	say("FirstLog", message.FirstLog("claude", ".logs/claude_invocations.jsonl"))
	say("GitHubTrouble", message.GitHubTrouble(errors.New("open /github/output: permission denied")))
	say("LogLarge", message.LogLarge("~/.local/state/belay/log.jsonl"))
	say("OwnLogLarge", message.OwnLogLarge("claude", ".logs/claude_invocations.jsonl"))
	say("ResultNotWritten", message.ResultNotWritten("out/r.json", full))
	say("NotPrinted", message.NotPrinted(full))
	say("NoServerRecord", message.NoServerRecord(full))

	say("HookBlocked", message.HookBlocked("guard", message.HookExited(1)))
	say("HookSkipped", message.HookSkipped("guard", message.HookExited(1)))
	say("HookUnrecorded", message.HookUnrecorded("guard", full))
	say("HookLeft", message.HookLeft("guard", []string{"4711 (sleep)"}))
	for name, why := range map[string]string{"HookNoInput": message.HookNoInput(full), "HookNotDelivered": message.HookNotDelivered(refused),
		"HookNotStarted": message.HookNotStarted(errors.New("nosuch: command not found")), "HookTimedOut": message.HookTimedOut(time.Minute), "HookInterrupted": message.HookInterrupted(),
		"HookTooMuch": message.HookTooMuch(errors.New(message.HookTooLong())), "HookKilled": message.HookKilled("SIGSEGV"), "HookNotFound": message.HookNotFound(127),
		"HookNotFound/not executable": message.HookNotFound(126), "HookKilledInside": message.HookKilledInside(139, "SIGSEGV"), "HookBadJSON": message.HookBadJSON()} {
		say(name, message.HookSkipped("guard", why))
	}
	say("HookDecided", "guard "+message.HookDecided(message.HookExited(1)))

	crashed, tail := message.DeathCrashed(message.ExitStatus(3)), "panic: index out of range"
	say("ServerRefused", message.ServerRefused("db", message.DeathCrashed("exit status 3"), at, "mcp:db"))
	say("ServerRefused/test call", message.ServerRefused("db", message.NoAnswerTo("tools/call"), time.Time{}, "mcp:db"))
	say("ServerCrashed", message.ServerCrashed("db", crashed, "tools/call", "query", tail, true))
	say("ServerCrashed/no restart", message.ServerCrashed("db", crashed, "resources/read", "", "", false))
	say("ServerNotStarted", message.ServerNotStarted("db", errors.New("db-server: command not found")))
	say("ServerDied", message.ServerDied("db", crashed, tail))
	sayRemote(say)
	say("ServerStaysDown", message.ServerStaysDown(message.ServerDied("db", crashed, "")))
	say("ToolTimedOut", message.ToolTimedOut("db", "export", 30*time.Second, 5*time.Minute))
	say("CallTimedOut", message.CallTimedOut("db", "resources/read", 30*time.Second))
	say("ServerHangs", message.ServerHangs("db"))
	say("ServerNotBack", message.ServerNotBack("db"))
	say("ClientLeft", message.ClientLeft("db", message.NoExitStatus()))
	say("RequestTooLarge", message.RequestTooLarge(80<<20, 64<<20))
	say("AnswerTooLarge", message.AnswerTooLarge(80<<20, 64<<20))
	say("Size", message.Size(4096))
	say("TooManyWait", message.TooManyWait())
	say("NotJSON", message.NotJSON())
	say("NotJSONRPC", message.NotJSONRPC())
	say("NoBatches", message.NoBatches())
	say("NestedBatch", message.NestedBatch())
	say("DuplicateID", message.DuplicateID())
	say("DeathNotStarted", message.OnServer(message.DeathNotStarted(errors.New("db-server: command not found"))))
	say("NoInitialize", message.OnServer(message.DeathEnded(message.NoInitialize(time.Minute))))
	say("NoLife", message.OnServer(message.DeathEnded(message.NoLife(30*time.Second))))
	say("ServerEnded", message.ServerEnded())
	say("SentAgain", message.SentAgain(crashed))
	say("NoServerInTime", message.NoServerInTime())
	say("NoAnswerWithin", message.NoAnswerWithin(30*time.Second))
	say("RequestOversize", message.RequestOversize())
	say("AnswerOversize", message.AnswerOversize(80<<20))
	say("LineOversize", message.LineOversize())
	say("CancelledByClient", message.CancelledByClient())
	say("Polluted", message.Polluted())
	say("LateAnswer", message.LateAnswer())
	say("Unlogged", message.Unlogged(12))
	say("ErrorOfSize", message.ErrorOfSize(80<<20))
	say("ErrorWithoutMessage", message.ErrorWithoutMessage())

	for _, more := range []func(func(name, text string)){settingMessages, usageMessages, runMessages, fallbackMessages, clientMessages, shimMessages, doctorMessages, recordMessages, rehearsalMessages, batchMessages, detachMessages, telemetryMessages, fleetMessages, fleetJobMessages, fleetFileMessages, pageMessages} {
		more(say)
	}
	slices.SortStableFunc(list, func(a, b spoken) int { return strings.Compare(a.name, b.name) })
	return list
}

// spokenNow are the messages at a time that is always the same.
func spokenNow(t *testing.T) (list []spoken) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	synctest.Test(t, func(*testing.T) { list = messages() })
	return list
}

func TestMessages_Golden(t *testing.T) {
	var b strings.Builder
	for _, m := range spokenNow(t) {
		fmt.Fprintf(&b, "%s: %s\n", m.name, strings.ReplaceAll(m.text, "\n", `\n`))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		old := strings.Split(string(want), "\n")
		for line := range strings.SplitSeq(got, "\n") {
			if !slices.Contains(old, line) {
				t.Errorf("not in %s: %s", golden, line)
			}
		}
		t.Error("read the messages, then: go test ./internal/message -update")
	}
}

// Every function of the package is called above, so that its text is in the golden file.
func TestMessages_AllAreThere(t *testing.T) {
	called := map[string]bool{}
	files, err := filepath.Glob("*.go")
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		inspect(t, file, func(n ast.Node) {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "message" {
					called[s.Sel.Name] = true
				}
			}
		})
	}
	if err != nil || len(files) < 8 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		inspect(t, file, func(n ast.Node) {
			f, ok := n.(*ast.FuncDecl)
			if ok && f.Recv == nil && f.Name.IsExported() && !strings.HasSuffix(file, "_test.go") && !called[f.Name.Name] {
				t.Errorf("%s: %s is missing in messages", file, f.Name.Name)
			}
		})
	}
}

func inspect(t *testing.T, path string, visit func(ast.Node)) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool { visit(n); return true })
}

// noted are messages that say a class, which belay ps and the log have from elsewhere.
var noted = []string{"GateState", "Verdict", "AttemptFailed", "RehearsedVerdict"}

func TestMessages_ReadWell(t *testing.T) {
	for _, m := range spokenNow(t) {
		name, _, _ := strings.Cut(m.name, "/")
		check := wording.Message
		if slices.Contains(noted, name) || strings.HasPrefix(name, "Demo") {
			check = wording.Text
		}
		for _, fault := range check(m.text) {
			t.Errorf("%s: %s\n%s", m.name, fault, m.text)
		}
	}
}

// What a caller of a program looks for is at the end of an error; what a person is to type is at the end of what is printed.
func TestWithoutLater(t *testing.T) {
	lift := "gate api is on hold. To lift it: belay gates reset api"
	for text, want := range map[string]string{
		message.Later("make exited 2"):         "make exited 2; retry later",
		message.Later("make 2; retry later"):   "make 2; retry later",
		message.Later(lift):                    lift,
		"the command said: belay; retry later": "the command said: belay; retry later",
	} {
		if got := message.WithoutLater(text, false); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := message.WithoutLater("make exited 2; retry later", true); got != "make exited 2" {
		t.Errorf("%q", got)
	}
}
