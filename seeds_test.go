package belay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/retry"
)

// INTEG-01, with a scripted claude: of a hundred calls, of which every twentieth meets a fault, 99 succeed, and none fails for the length of its prompt or for what
// was printed. TestINTEG01_Calls makes some with the real CLIs.
func TestINTEG01_HundredCalls(t *testing.T) {
	t.Parallel()
	failing := func(words string) string {
		return event(`"type":"result","subtype":"success","is_error":true,"result":"%s","num_turns":1`, words) + "exit 1"
	}
	// The script counts its starts without starting anything itself.
	claude := scripted(t, `n=0; [ ! -e "$0.n" ] || read n < "$0.n"
echo $((n + 1)) > "$0.n"
`+begins+`case $n in
7) `+failing("API Error: 529 Overloaded")+` ;;
28) `+failing("API Error: Request rejected (429) · This request would exceed the rate limit")+` ;;
49) `+failing("API Error: Connection error. ECONNRESET")+` ;;
70) printf '{"type":"result","subtype":"success","is_error":fal'; exit 0 ;;
91) `+failing("API Error: 500 Internal server error")+` ;;
esac
`+answers+succeeds)
	claude.Runner.Gate.Off = true
	claude.Runner.Policy = retry.Policy{MaxRetries: 3, BaseDelay: time.Millisecond, Jitter: retry.NoJitter}
	const calls = 100
	good, attempts, met := 0, 0, map[string]int{}
	for i := range calls {
		claude.Prompt = "Do it."
		if i%10 == 3 {
			claude.Prompt = fmt.Sprint(i, strings.Repeat(" and again", 20_000)) // more than Linux takes as an argument
		}
		claude.Runner.Observe = func(e belay.Event) {
			if f, ok := e.(belay.AttemptFailed); ok {
				met[string(f.Verdict.Class)]++
			}
		}
		res, err := claude.Run(t.Context())
		attempts += res.Attempts
		if err == nil && res.Output.String() == "It is done." {
			good++
			continue
		}
		t.Logf("call %d: %v, %q", i, err, res.Output.String())
	}
	if good < calls*99/100 {
		t.Errorf("%d of %d calls succeeded", good, calls)
	}
	if attempts != calls+5 || fmt.Sprint(met) != "map[bad_output:1 network:1 overloaded:1 rate_limit:1 server_error:1]" {
		t.Errorf("%d attempts, which met %v: five faults were scripted", attempts, met)
	}
}

// The tests that the seeds name are there under these names, and run in make test unless another of the same requirement does.
func TestSeeds_NamedTests(t *testing.T) {
	for dir, names := range map[string]string{
		".":                   "TestINTEG01_HundredCalls",
		"internal/e2e/agents": "TestSeed000 TestINTEG01_Calls TestINTEG04_LongPrompts TestINTEG05_SubprocessErrors TestINTEG05_TimedOut TestTRNS05_Retry TestTRNS06_Session TestOUT03_Format TestOUT04_Usage",
		"internal/e2e/hooks":  "TestINTEG03_ClaudePreToolUse TestINTEG03_CodexPreToolUse",
		"internal/e2e/mcp":    "TestINTEG02_ClaudeServerCrashes TestINTEG02_CodexCallsClaude TestINTEG02_CodexServerCrashes TestINTEG06_EachFailureOnce",
		"gh":                  "TestSeed002",
	} {
		for _, name := range strings.Fields(names) {
			if !hasTest(t, dir, name) {
				t.Errorf("%s has no %s", dir, name)
			}
		}
	}
}

// What Belay does otherwise than a seed asks is in docs/decisions.md, with a reason and with the way to have it as the seed does; and nothing is there that is not on the list of
// what remains.
func TestSeeds_DifferencesAreDocumented(t *testing.T) {
	_, section, _ := strings.Cut(text(t, "docs/decisions.md"), "\n## Seed by seed\n")
	rows := map[string][]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if id := strings.TrimSpace(cells[0]); len(cells) == 5 && strings.Contains(id, "-") && !strings.HasPrefix(id, "---") {
			rows[id] = cells
		}
	}
	for line := range strings.Lines(text(t, "testdata/seed-differences.txt")) {
		id, asks, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id == "#" {
			continue
		}
		row := rows[id]
		delete(rows, id)
		if len(row) == 0 || strings.TrimSpace(row[1]) != asks {
			t.Errorf("docs/decisions.md does not say of %s: %s", id, asks)
		}
		for _, cell := range row {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("docs/decisions.md leaves out something of %s: %q", id, row)
			}
		}
	}
	for id := range rows {
		t.Errorf("%s is in docs/decisions.md, and not in testdata/seed-differences.txt", id)
	}
	if !strings.Contains(section, "BELAY_STATE_DIR=$PWD/.belay") {
		t.Error("docs/decisions.md does not say how to keep the state in the worktree")
	}
}
