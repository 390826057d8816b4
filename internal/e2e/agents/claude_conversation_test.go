//go:build linux

package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// A conversation that the Agent SDK holds is line for line as without belay: the SDK asks for the models before it says
// anything, a turn needs a permission, a turn is throttled and the next one works, and between two turns nothing happens for
// longer than a claude that has delivered its result may otherwise stay.
func TestClaude_ConversationSDK(t *testing.T) {
	t.Parallel()
	stage.InFull(t) // every day there is TestShim_ClaudeSDK, and TestClaude_ConversationFailedTurn without a shim
	sdk := clitest.SDK(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err) // claude's SDK has come by npm
	}
	const script = `200(text="one"), tool(bash: "echo made > made"), 200(text="two"), 429x2, 200(text="four")`
	plan := `[{"models":true},{"say":"first"},{"idle":33000},{"say":"second"},{"say":"third"},{"say":"fourth"}]`
	converse := func(t *testing.T, command string) (said, raw string) {
		s := claude.New(t, "", script)
		s.Longest = 5 * time.Minute
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=1"}
		// What claude prints is kept beside what the SDK makes of it.
		claude := s.File("claude.sh", "#!/bin/sh\n"+command+` "$@" | tee `+filepath.Join(s.Dir, "raw")+"\n")
		driver, err := filepath.Abs("testdata/converse.mjs")
		must.OK(t, err)
		cmd := exec.Command(node, driver, sdk, claude, plan)
		cmd.Dir, cmd.Env = s.Work, s.Environ()
		r := s.Start(cmd, nil).Quietly()
		if r.Code != 0 {
			t.Fatalf("exit code %d, and at the end of stderr %s", r.Code, r.Stderr[max(0, len(r.Stderr)-2000):])
		}
		s.Asked(6)
		s.Wrote("made", "made\n")
		printed, err := os.ReadFile(filepath.Join(s.Dir, "raw"))
		if err != nil {
			t.Error(err)
		}
		return conversationAlike(s, r.Stdout), conversationAlike(s, string(printed))
	}
	bare := make(chan [2]string, 1)
	t.Run("Bare", func(t *testing.T) {
		t.Parallel()
		defer close(bare)
		said, raw := converse(t, "claude")
		bare <- [2]string{said, raw}
	})
	t.Run("Belay", func(t *testing.T) {
		t.Parallel()
		said, raw := converse(t, "belay run -- claude")
		want := <-bare
		sameLines(t, "the SDK hands out", said, want[0])
		sameLines(t, "claude prints", raw, want[1])
		for _, must := range []string{`"models"`, `"asked"`, `"one"`, `"two"`, `"four"`, `"is_error":true`} {
			if !strings.Contains(said, must) {
				t.Errorf("no %s in what the SDK hands out", must)
			}
		}
	})
}

// sameLines shows the first line that differs.
func sameLines(t *testing.T, what, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		t.Errorf("%s %d lines, and %d without belay", what, len(g), len(w))
	}
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			at := 0
			for at < min(len(g[i]), len(w[i])) && g[i][at] == w[i][at] {
				at++
			}
			from := max(0, at-100)
			t.Errorf("%s in line %d\n… %.500s\nand without belay\n… %.500s", what, i+1, g[i][from:], w[i][from:])
			return
		}
	}
}

// variesInTalk are more values that differ from run to run.
var variesInTalk = []*regexp.Regexp{
	regexp.MustCompile(`"request_id":"[^"]*"`),
	regexp.MustCompile(`"pid":[0-9]+`),
	regexp.MustCompile(`"(task|run)_id":"[^"]*"`),
	regexp.MustCompile(`"resetsAt":[0-9]+`),
}

// conversationAlike is what a conversation prints without what differs from run to run.
func conversationAlike(s *stage.Stage, text string) string {
	text = claude.alike(s, text)
	for _, v := range variesInTalk {
		text = v.ReplaceAllString(text, "…")
	}
	project := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(s.Dir, "-") // as claude names its directory
	return strings.NewReplacer(s.Dir, "…", project, "…").Replace(text)
}

// talk is a conversation with the real claude by hand.
type talk struct {
	*stage.Running
	in    *os.File
	lines chan map[string]any
}

// converse starts one.
func converse(s *stage.Stage, flags []string, args ...string) *talk {
	s.T.Helper()
	in, feed, err := os.Pipe()
	must.OK(s.T, err)
	out, printed, err := os.Pipe()
	must.OK(s.T, err)
	s.T.Cleanup(func() { feed.Close(); out.Close() })
	cmd := s.Command("belay", append(append([]string{"run"}, flags...), append([]string{"--", "claude"}, args...)...)...)
	cmd.Stdout = printed
	c := &talk{in: feed, lines: make(chan map[string]any, 1000)}
	c.Running = s.Start(cmd, in)
	in.Close()
	printed.Close()
	go func() {
		defer close(c.lines)
		for dec := json.NewDecoder(out); ; {
			var line map[string]any
			if dec.Decode(&line) != nil {
				return
			}
			c.lines <- line
		}
	}()
	return c
}

func (c *talk) say(text string) {
	c.T.Helper()
	if _, err := fmt.Fprintf(c.in, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":%q}]}}`+"\n", text); err != nil {
		c.T.Fatal(err)
	}
}

// until waits for a line of that type.
func (c *talk) until(kind string) map[string]any {
	c.T.Helper()
	late := time.After(stage.Patience)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				c.T.Fatalf("it has ended before a line of type %s came\n%s", kind, c.Stderr.String())
			}
			if line["type"] == kind {
				return line
			}
		case <-late:
			c.T.Fatalf("no line of type %s\n%s", kind, c.Stderr.String())
		}
	}
}

var streams = []string{"--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}

// A turn's result is there at once, whatever it says, and the next turn follows in the same process; with -p and without. Of a plan claude tells how much is
// used; of an account with an API key it tells nothing, and nothing is kept.
func TestClaude_ConversationFailedTurn(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{"Print": {"-p"}, "NoPrint": nil, "UnknownFlag": {"-p", "--allow-other-models"}} {
		t.Run(name, func(t *testing.T) {
			if name != "UnknownFlag" {
				stage.InFull(t) // every day TestShim_ClaudeSDK has a turn that fails
			}
			t.Parallel()
			last, known := `200(text="two")`, ""
			if name != "NoPrint" {
				last, known = `200(text="two", used=5h:42%,7d:17%)`, usedSaid
			}
			s := claude.New(t, "", "429x2, "+last)
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=1"}
			c := converse(s, nil, append(more, streams...)...)
			c.say("first")
			first := c.until("result")
			c.say("second")
			second := c.until("result")
			c.in.Close()
			c.Wait().Exits(0)
			if first["is_error"] != true || second["is_error"] != false || second["result"] != "two" || first["session_id"] != second["session_id"] {
				t.Errorf("%v, %v\n%v, %v", first["is_error"], first["result"], second["is_error"], second["result"])
			}
			if got := quotaKnown(s); got != known {
				t.Errorf("known of its limits: %q, want %q", got, known)
			}
		})
	}
}

// No stall limit holds while claude waits for its caller, which TestShim_ClaudeSDK shows every day; while it works, one does.
func TestClaude_ConversationStall(t *testing.T) {
	t.Parallel()
	s := claude.New(t, "", `200(text="one"), 200(text="two"), hang`)
	c := converse(s, []string{"--stall-timeout", "15s"}, append([]string{"-p"}, streams...)...)
	for _, text := range []string{"one", "two"} {
		if full {
			time.Sleep(16 * time.Second) // longer than the limit
		}
		c.say(text)
		if r := c.until("result"); r["result"] != text {
			t.Errorf("%v", r["result"])
		}
	}
	c.say("three")
	c.Wait().Exits(124)
}
