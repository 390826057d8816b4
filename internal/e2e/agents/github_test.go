//go:build linux

package agents_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/actionstest"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/test/must"
)

// markdown builds the parser of Markdown, once. It is in another module, so that it is no dependency of Belay's.
var markdown = sync.OnceValues(func() (string, error) {
	path := stage.Bin("markdown")
	out, err := exec.Command("go", "build", "-C", "../../../tools", "-o", path, "./markdown").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

// document is what the parser finds in a summary.
type document struct {
	Headings, Paragraphs, Others []string
	Tables                       [][][]string
}

func readMarkdown(t *testing.T, path string) (d document) {
	t.Helper()
	parser, err := markdown()
	must.OK(t, err)
	in, err := os.Open(path)
	must.OK(t, err)
	defer in.Close()
	cmd := exec.Command(parser)
	cmd.Stdin = in
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &d)
	}
	must.OK(t, err)
	return d
}

// sixFaults are the faults of the README's table (scripts/sixfaults), with waits that are short.
var sixFaults = []struct {
	name, script string
	flags        []string
	classes      []string // one of these
	patient      bool     // retries are as far apart as usual: the CLIs' own are counted against the time that ours would take
	fails        bool
}{
	{name: "RateLimit", script: "429(retry-after=1), 200(in=30000, out=500)", classes: []string{"rate_limit"}},
	{name: "Overloaded", script: "overloaded x5, 200(in=30000, out=500)", patient: true, classes: []string{"overloaded"}},
	{name: "BreaksOff", script: "end-mid x3, 200(in=30000, out=500)", classes: []string{"network", "server_error", "bad_output", "unknown"}},
	{name: "Hang", script: "hang, 200(in=30000, out=500)", flags: []string{"--stall-timeout", "30s"}, classes: []string{"stalled"}},
	{name: "WrongKey", script: "401x*", classes: []string{"auth"}, fails: true},
	{name: "UsageLimit", script: "usage-limit(resets=45s), 200(in=30000, out=500)", flags: []string{"--no-wait"}, classes: []string{"usage_limit"}, fails: true},
}

// In a job of GitHub Actions each of the six faults has one annotation, which names its class, a summary and all outputs.
func TestGitHub(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		if version != a.Versions[0] {
			t.Skip("only with the newest version")
		}
		for i, fault := range sixFaults {
			if !clitest.OneOf(3, i+slices.Index(agents, a)) {
				continue // every day each agent has a third of them, and the next one others
			}
			t.Run(fault.name, func(t *testing.T) {
				t.Parallel()
				script := fault.script
				if a == gemini || a == opencode { // they wait longer in between, so that five are more than Belay allows
					script = strings.Replace(script, "overloaded x5", "overloaded x2", 1)
				}
				s := a.New(t, version, script)
				output, summary := s.File("output", ""), s.File("summary", "")
				s.Env = append(s.Env, "GITHUB_ACTIONS=true", "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary)
				args, _ := model(t, a)
				flags := append([]string{"--github"}, fault.flags...)
				if !fault.patient {
					flags = append(flags, soon...)
				}
				r := s.Belay(flags, a.ask(append(args, "say hi")...))
				if a == gemini && fault.name == "BreaksOff" && r.Code == 0 && r.Result.Attempts == 1 {
					t.Skip("gemini asks again by itself, and says nothing of it")
				}

				level, class := "warning", ""
				if fault.fails {
					level, class = "error", fault.classes[0]
				}
				var words []string // people are told of a class in words
				for _, class := range fault.classes {
					words = append(words, message.ClassName(class, 0))
				}
				r.Is(class, r.Result.Attempts)
				said := actionstest.Commands(r.Stderr)
				if len(said) != 1 || said[0].Name != level || !strings.HasPrefix(said[0].Properties["title"], "belay: "+a.Name+" ") ||
					!slices.ContainsFunc(words, func(class string) bool { return strings.Contains(said[0].Properties["title"], class) }) || said[0].Data == "" {
					t.Errorf("annotations: %q", said)
				}

				text, err := os.ReadFile(output)
				must.OK(t, err)
				got, err := actionstest.Outputs(string(text))
				if err != nil || len(got) != 6 || got["error_type"] != class || got["attempts"] != strconv.Itoa(r.Result.Attempts) {
					t.Errorf("outputs: %q, %v", got, err)
				}
				if cost := r.Result.Usage.Cost; (cost == nil) != (got["total_cost_usd"] == "") || cost == nil && fault.name == "RateLimit" {
					t.Errorf("cost: %q, %v", got["total_cost_usd"], cost)
				}
				if !fault.fails && (got["input_tokens"] != strconv.Itoa(r.Result.Usage.Input) || r.Result.Usage.Input < 30000 || got["output_tokens"] != strconv.Itoa(r.Result.Usage.Output) ||
					got["session_id"] != r.Result.SessionID || got["session_id"] == "") {
					t.Errorf("outputs: %q", got)
				}

				d := readMarkdown(t, summary)
				if len(d.Others) > 0 || !slices.Equal(d.Headings, []string{"belay: " + a.Name}) || len(d.Tables) != 2 || len(d.Tables[0]) != 2 || len(d.Tables[1]) < 2 {
					t.Fatalf("summary: %q", d)
				}
				for _, table := range d.Tables {
					for _, row := range table {
						if len(row) != len(table[0]) || slices.Contains(row, "") {
							t.Errorf("row: %q", row)
						}
					}
				}
				if row := d.Tables[0][1]; row[1] != strconv.Itoa(r.Code) || row[2] != strconv.Itoa(r.Result.Attempts) {
					t.Errorf("first table: %q", row)
				}
				for _, row := range d.Tables[1][1:] {
					if !slices.Contains(words, row[1]) {
						t.Errorf("second table: %q", row)
					}
				}
			})
		}
	})
}
