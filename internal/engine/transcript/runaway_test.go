package transcript

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// A row is of one thread, and ends with any other call. Calls of which the input is not known are never a row.
func TestRunaway(t *testing.T) {
	call := func(thread, tool, input string) agent.Call {
		c := agent.NewCall(tool, []byte(input))
		c.Thread = thread
		return c
	}
	test, edit := call("", "Bash", `{"command":"go test","description":"Test"}`), call("", "Edit", `{"file_path":"x"}`)
	again := call("", "Bash", `{"description":"Test once more","command":"go test"}`)
	other := call("", "Bash", `{"command":"go test","timeout":5}`)
	inside := call("sub", "Bash", `{"command":"go test"}`)
	unknown := call("", "Bash", "")
	for name, tt := range map[string]struct {
		calls []agent.Call
		hit   int // which call is one too many; 0 if none is
	}{
		"Three":        {[]agent.Call{test, test, test, test}, 3},
		"AnotherWord":  {[]agent.Call{test, again, test}, 3},
		"AfterAnEdit":  {[]agent.Call{test, test, edit, test, test, edit, test, test}, 0},
		"OtherInput":   {[]agent.Call{test, test, other, test, test}, 0},
		"OtherTool":    {[]agent.Call{test, call("", "Run", `{"command":"go test"}`), test, test, edit}, 0},
		"OtherThread":  {[]agent.Call{test, inside, test, inside, edit}, 0},
		"Between":      {[]agent.Call{test, inside, test, inside, test}, 5},
		"Unknown":      {[]agent.Call{unknown, unknown, unknown, unknown}, 0},
		"UnknownTool":  {[]agent.Call{test, test, unknown, test, test}, 0},
		"Empty":        {[]agent.Call{call("", "List", "{}"), call("", "List", "{}"), call("", "List", "{}")}, 3},
		"SubagentsOwn": {[]agent.Call{inside, inside, test, inside}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			rows, hit := callRows{}, 0
			for i, c := range tt.calls {
				if n := rows.add(c); n >= 3 && hit == 0 {
					hit = i + 1
				}
			}
			if hit != tt.hit {
				t.Errorf("hit at %d", hit)
			}
		})
	}
}

// excess is a limit that was reached.
type excess struct {
	call  agent.Call // of no tool if it is about sub-agents
	count int
}

// countTranscript shows a profile the output of an attempt. It returns how many calls there were, and the limit that was reached.
func countTranscript(args []string, stdout, stderr string) (calls int, over *excess) {
	f := profile.OfCommand(args[0]).New(args, []string{}, "").(agent.Agent).Follow(agent.Plan{})
	rows := callRows{}
	look := func(info agent.LineInfo) {
		calls += len(info.Calls)
		if info.SubAgents > 3 && over == nil {
			over = &excess{count: info.SubAgents}
		}
		for _, c := range info.Calls {
			if n := rows.add(c); n >= 5 && over == nil {
				over = &excess{c, n}
			}
		}
	}
	lines := agent.Lines{Lists: true, Each: func(line agent.Line) { look(f.Line(line)) }}
	lines.Write([]byte(stdout))
	lines.Close()
	for line := range strings.Lines(stderr) {
		if f.StderrLine != nil {
			if info, ok := f.StderrLine([]byte(strings.TrimSpace(line))); ok {
				look(info)
			}
		}
	}
	return calls, over
}

// None of the recorded transcripts is taken for a runaway.
func TestRunaway_Recorded(t *testing.T) {
	transcripts, calls := 0, 0
	for _, d := range profile.All() {
		for _, name := range []string{"cases", "runs", "recorded"} {
			file, err := os.Open("../../agent/" + d.Name + "/testdata/" + name + ".jsonl")
			if err != nil || !d.IsAgent() {
				continue
			}
			defer file.Close()
			list, err := outcome.Read(file)
			must.OK(t, err)
			for _, saved := range list {
				n, over := countTranscript([]string{d.Name}, saved.Stdout, saved.Stderr)
				transcripts, calls = transcripts+1, calls+n
				if over != nil {
					t.Errorf("%s: %+v", saved.ID, over)
				}
			}
		}
	}
	if transcripts < 600 || calls == 0 {
		t.Errorf("only %d transcripts with %d calls", transcripts, calls)
	}
}

// Nor is one of a hundred random ones, or of as many as make test-full tries: edits and tests in turn, searches side by side, sub-agents that do the same as their agent. What follows each is one:
// a call that is made five times in a row.
func TestRunaway_Random(t *testing.T) {
	for seed := range 100 * uint64(faulttest.Rounds(t)) {
		r := rand.New(rand.NewPCG(seed, 45))
		w := &transcriptWriter{random: r, format: (*transcriptWriter).claude, threads: []string{""}}
		args := []string{"claude", "-p"}
		if seed%2 > 0 {
			w.format, args = (*transcriptWriter).codex, []string{"codex", "exec"}
		}
		for range 5 + r.IntN(10) {
			w.ordinary()
		}
		for range 5 {
			w.call("", "make loop")
		}
		if n, over := countTranscript(args, w.String(), ""); over == nil || over.count != 5 || over.call.Argument != "make loop" {
			t.Errorf("seed %d: %d calls, %+v", seed, n, over)
		}
	}
}

// transcriptWriter makes transcripts.
type transcriptWriter struct {
	strings.Builder
	random  *rand.Rand
	format  func(w *transcriptWriter, thread, id, command string)
	threads []string
	n       int
}

// ordinary does what agents do.
func (w *transcriptWriter) ordinary() {
	thread := w.threads[w.random.IntN(len(w.threads))]
	switch w.random.IntN(6) {
	case 0: // edit, test, edit, test
		for range 1 + w.random.IntN(8) {
			w.call(thread, fmt.Sprintf("sed -i s/%d/%d/ main.go", w.n, w.random.IntN(1000)))
			w.call(thread, "go test ./...")
		}
	case 1: // the same for some time, until it works
		for range 1 + w.random.IntN(4) {
			w.call(thread, "curl -s localhost:8080/health")
		}
		w.call(thread, fmt.Sprintf("cat log.%d", w.n))
	case 2: // many files
		for i := range 1 + w.random.IntN(10) {
			w.call(thread, fmt.Sprintf("cat file%d.go", i))
		}
		w.call(thread, "ls")
		w.call(thread, "git status")
	case 3: // two in turn
		for range w.random.IntN(10) {
			w.call(thread, "git status")
			w.call(thread, "git diff")
		}
		w.call(thread, fmt.Sprintf("git show HEAD~%d", w.n))
	case 4: // all threads do the same
		command := fmt.Sprintf("go vet ./pkg%d", w.n)
		for _, each := range w.threads {
			w.call(each, command)
		}
	case 5:
		if w.threads = append(w.threads, fmt.Sprintf("toolu_sub%d", w.n)); len(w.threads) > 4 {
			w.threads = w.threads[:1]
		}
	}
}

func (w *transcriptWriter) call(thread, command string) {
	w.n++
	w.format(w, thread, fmt.Sprintf("call%d", w.n), command)
}

func (w *transcriptWriter) claude(thread, id, command string) {
	parent, input := []byte("null"), object{"command": command, "description": fmt.Sprint("Step ", w.n)}
	if thread != "" {
		parent, _ = json.Marshal(thread)
	}
	text, _ := json.Marshal(input)
	fmt.Fprintf(w, `{"type":"assistant","session_id":"s","parent_tool_use_id":%s,"message":{"id":"m%s","model":"claude-opus-5-5","content":[{"type":"tool_use","id":%q,"name":"Bash","input":%s}]}}`+"\n", parent, id, id, text)
	fmt.Fprintf(w, `{"type":"user","session_id":"s","parent_tool_use_id":%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]}}`+"\n", parent, id)
}

// codex shows nothing of the calls that sub-agents make.
func (w *transcriptWriter) codex(thread, id, command string) {
	if thread != "" {
		return
	}
	for _, event := range []string{"item.started", "item.completed"} {
		text, _ := json.Marshal(object{"type": event, "item": object{"id": id, "type": "command_execution", "command": "/bin/bash -lc '" + command + "'"}})
		fmt.Fprintf(w, "%s\n", text)
	}
}

type object = map[string]any
