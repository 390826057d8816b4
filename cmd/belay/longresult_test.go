//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// unit is a piece of an answer as JSON has it, and as it means it: 32 bytes, so that an answer of any size can be made of
// them.
const (
	unit  = `é\"quoted\" \u20ac\ud83d\ude00\n.`
	meant = "é\"quoted\" €😀\n."
)

// scripted are agents that answer with $UNITS units. Everything else is short.
var scripted = map[string]string{
	"claude": `#!/bin/sh
long() { yes "$UNIT" | head -n "$UNITS" | tr -d '\n'; }
id='"session_id":"5a4ff5c0-8de5-4e19-8e9c-2bb3de1ee8a3","uuid":"u"'
case "$*" in
*stream-json*)
	echo '{"type":"system","subtype":"init","claude_code_version":"2.1.325","model":"m",'$id'}'
	[ -z "$TOOL" ] || {
		echo '{"type":"assistant","message":{"id":"m0","content":[{"type":"tool_use","id":"t1"}]},'$id'}'
		printf '{"type":"user","message":{"content":[{"type":"tool_result","content":"'; long
		echo '","tool_use_id":"t1"}]},'$id'}'
	}
	echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"…"}],"usage":{"input_tokens":3,"output_tokens":4}},'$id'}'
	;;
*--verbose*)
	printf '[{"type":"system","subtype":"init",'$id'},' ;;
esac
printf '{"type":"result","subtype":"success","is_error":%s,"result":"%s' "${IS_ERROR:-false}" "$BEGIN"; long
printf '","total_cost_usd":0.25,"usage":{"input_tokens":3,"output_tokens":4},"modelUsage":{"m":{"inputTokens":3}},"model_usage_since_last_result":{"x":1},'$id'}'
case "$*" in *stream-json*) ;; *--verbose*) printf ']' ;; esac
echo
[ -z "$IS_ERROR" ]
`,
	"codex": `#!/bin/sh
long() { yes "$UNIT" | head -n "$UNITS" | tr -d '\n'; }
echo '{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}'
printf '{"type":"item.completed","item":{"id":"i1","type":"command_execution","aggregated_output":"'; long; echo '"}}'
printf '{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"'; long; echo '"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":3,"cached_input_tokens":0,"output_tokens":4}}'
`,
}

// agents puts the scripted agents on the run's PATH.
func (r *run) agents(env ...string) {
	r.t.Helper()
	bin := filepath.Join(r.dir, "agents")
	must.OK(r.t, os.Mkdir(bin, 0o700))
	for name, script := range scripted {
		must.OK(r.t, built.WriteFile(filepath.Join(bin, name), []byte(script)))
	}
	r.env = append(r.env, "UNIT="+unit, "PATH="+programs(r.t)+":"+bin+":"+os.Getenv("PATH"))
	r.env = append(r.env, env...)
}

// expected compares what it is written with what is repeated n times between two texts, and keeps the rest of the line.
type expected struct {
	before, piece string
	n             int
	block         string // of so many pieces
	rest          strings.Builder
	wrong         error
}

func (e *expected) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 && e.wrong == nil {
		switch {
		case e.before != "":
			n := min(len(p), len(e.before))
			if string(p[:n]) != e.before[:n] {
				e.wrong = fmt.Errorf("%.200q instead of %.200q", p, e.before)
			}
			e.before, p = e.before[n:], p[n:]
		case e.n > 0: // many at a time: under the race detector each comparison costs
			n := min(e.n, 1024)
			if len(e.block) != n*len(e.piece) {
				e.block = strings.Repeat(e.piece, n)
			}
			e.before = e.block
			e.n -= n
		default:
			e.rest.Write(p)
			p = nil
		}
	}
	return size, nil
}

// An answer of any length is delivered whole, in each form, and understood; belay's own memory stays small.
func TestBig_Result(t *testing.T) {
	if testing.Short() {
		t.Skip("moves hundreds of megabytes")
	}
	base := idle(t)
	const session = `"session_id":"5a4ff5c0-8de5-4e19-8e9c-2bb3de1ee8a3","uuid":"u"}`
	const result, since = `{"type":"result","subtype":"success","is_error":false,"result":"`, `"model_usage_since_last_result":{"x":1},`
	const usage = `","total_cost_usd":0.25,"usage":{"input_tokens":3,"output_tokens":4},"modelUsage":{"m":{"inputTokens":3}},`
	stream := strings.Split(strings.NewReplacer("SESSION", session).Replace(
		`{"type":"system","subtype":"init","claude_code_version":"2.1.325","model":"m",SESSION|{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"…"}],"usage":{"input_tokens":3,"output_tokens":4}},SESSION|`), "|")
	for _, way := range []struct {
		name                 string
		args                 []string
		before, piece, after string
	}{
		{"claude/text", []string{"--", "claude", "-p", "hi"}, "", meant, "\n"},
		{"claude/json", []string{"--", "claude", "-p", "hi", "--output-format", "json"}, result, unit, usage + session + "\n"},
		{"claude/stream-json", []string{"--", "claude", "-p", "hi", "--output-format", "stream-json", "--verbose"},
			strings.Join(stream, "\n") + result, unit, usage + since + session + "\n"},
		{"claude/list", []string{"--", "claude", "-p", "hi", "--output-format", "json", "--verbose"},
			`[{"type":"system","subtype":"init",` + session + `,` + result, unit, usage + since + session + "]\n"},
		{"claude/unknown-flag", []string{"--", "claude", "-p", "hi", "--unheard-of", "--output-format", "json"}, result, unit, usage + since + session + "\n"},
		{"claude/conversation", []string{"--", "claude", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"},
			strings.Join(stream, "\n") + result, unit, usage + since + session + "\n"},
		{"codex/text", []string{"--", "codex", "exec", "hi"}, "", meant, "\n"},
		{"codex/json", []string{"--", "codex", "exec", "--json", "hi"}, `{"type":"thread.started","thread_id":"0199a213-81c0-7800-8aa1-bbab2a035a53"}` + "\n" +
			`{"type":"item.completed","item":{"id":"i1","type":"command_execution","aggregated_output":"`, unit, ""},
	} {
		sizes := []int{20 * mib} // more than it may keep
		switch {
		case clitest.Full():
			sizes = []int{8 * mib, 64 * mib}
		case slices.Contains([]string{"claude/unknown-flag", "claude/list", "claude/conversation", "codex/text"}, way.name):
			continue // they are read as the others are
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dMiB", way.name, size/mib), func(t *testing.T) {
				r := newRun(t, 0)
				roomFor(t, r.dir, 512*mib)
				units := size / len(unit)
				r.agents(fmt.Sprintf("UNITS=%d", units))
				file := filepath.Join(r.dir, "result.json")
				r.start("belay-plain", append([]string{"run", "--result-file", file}, way.args...)...)
				want := &expected{before: way.before, piece: way.piece, n: units}
				const late = 4 * mib
				n, err := io.CopyN(want, r.out, int64(len(way.before)+units*len(way.piece)-late))
				if err != nil {
					t.Fatalf("%d bytes, then %v, %v\n%s", n, err, want.wrong, r.said())
				}
				used := peak(t, r.cmd.Process.Pid)
				_, err = io.Copy(want, r.out)
				if code := shellCode(r.cmd.Wait()); code != 0 || err != nil || want.wrong != nil || want.n != 0 {
					t.Fatalf("exit code %d, %v, %v, %d pieces are missing\n%s", code, err, want.wrong, want.n, r.said())
				}
				if rest := want.rest.String(); way.after != "" && rest != way.after {
					t.Errorf("it ends in %.500q", rest)
				}
				checkPeak(t, used, base)
				if left, _ := filepath.Glob(filepath.Join(r.dir, "state", "held-*")); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
				resultHolds(t, file, units)
			})
		}
	}
}

// resultHolds checks that the result file has the whole answer.
func resultHolds(t *testing.T, file string, units int) {
	t.Helper()
	data, err := os.ReadFile(file)
	must.OK(t, err)
	var got struct {
		Success bool
		Result  string
		Usage   struct {
			Input int `json:"input_tokens"`
		}
	}
	must.OK(t, json.Unmarshal(data, &got))
	text := got.Result
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") { // as it was printed
		t.Errorf("%.200s", text)
	}
	if !got.Success || got.Usage.Input != 3 || len(text) != units*len(meant) || text != strings.Repeat(meant, units) {
		t.Errorf("success %v, %d input tokens, a result of %d bytes: %.100q", got.Success, got.Usage.Input, len(text), text)
	}
}

// What a tool has printed may be long too; and a failure is told whatever else its line holds.
func TestBig_OtherLines(t *testing.T) {
	t.Parallel()
	t.Run("Tool", func(t *testing.T) {
		r := newRun(t, 0)
		r.agents("UNITS=300000", "TOOL=1")
		cmd := r.command("belay", "run", "--", "claude", "-p", "hi", "--output-format", "stream-json", "--verbose")
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		if code := shellCode(cmd.Run()); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if n := strings.Count(stdout.String(), unit); n != 600_000 || strings.Count(stdout.String(), "\n") != 5 {
			t.Errorf("%d units in %d lines", n, strings.Count(stdout.String(), "\n"))
		}
	})
	t.Run("Failure", func(t *testing.T) {
		r := newRun(t, 0)
		r.agents("UNITS=300000", "IS_ERROR=true", `BEGIN=API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}} `)
		for i, flags := range [][]string{{"--output-format", "stream-json", "--verbose"}, {"--output-format", "json"}, nil} {
			if !clitest.OneOf(3, i) {
				continue
			}
			cmd := r.command("belay", append([]string{"run", "--max-retries", "1", "--base-delay", "0", "--no-gate", "--result-file", "f.json", "--", "claude", "-p", "hi"}, flags...)...)
			if code := shellCode(cmd.Run()); code != 75 {
				t.Errorf("%v: exit code %d", flags, code)
			}
			data, _ := os.ReadFile(filepath.Join(r.dir, "f.json"))
			if !bytes.Contains(data, []byte(`"error_type":"overloaded"`)) || !bytes.Contains(data, []byte(`"attempts":2`)) {
				t.Errorf("%v: %.500s", flags, data)
			}
		}
	})
	t.Run("Explained", func(t *testing.T) {
		r := newRun(t, 0)
		r.agents("UNITS=640000")
		for name, args := range map[string]string{"claude": "-p hi --output-format stream-json --verbose", "codex": "exec --json hi"} {
			saved := filepath.Join(r.dir, name+".out")
			if code := shellCode(r.command("sh", "-c", name+" "+args+" >"+saved).Run()); code != 0 {
				t.Fatal(code)
			}
			var stdout bytes.Buffer
			cmd := r.command("belay-plain", "explain", "--profile", name, "--exit-code", "0", "--stdout", saved, "--json")
			cmd.Stdout = &stdout
			if code := shellCode(cmd.Run()); code != 0 || !strings.Contains(stdout.String(), `"class":"ok"`) {
				t.Errorf("%s: exit code %d, %.500s", name, code, stdout.String())
			}
		}
	})
}
