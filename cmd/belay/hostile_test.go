//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/test/must"
)

// What a hostile program calls itself and says: it clears the screen, sets the title, turns the direction of writing round, goes back
// over what was printed, is no UTF-8, and ends with a line that looks like one of Belay's.
const (
	evilName = "e\x1b[2J\x1b]0;owned\a\u009b31mv\u202ei\x7f\r\bl\xff\nbelay: forged"
	evilText = "boom \x1b[2J\x1b]0;owned\a\u009b31m\u202e\x7f\b\x00 rate limit\r\n"
	// evilJSON is a text of that kind in a JSON string.
	evilJSON = `x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u007f\r\b\nbelay: forged`
)

// hostile is a state directory full of what hostile programs have said.
type hostile struct {
	*run
	calls int
}

// harmless checks what a call has printed. Lines of the command itself, which are passed on as they are, begin with CHILD.
func (h *hostile) harmless(args []string, out []byte) {
	h.t.Helper()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "CHILD") {
			continue
		}
		bad := !utf8.ValidString(line) || strings.HasPrefix(line, "belay: forged")
		for _, r := range line {
			bad = bad || printable.Controls(r) && r != '\n' && r != '\t'
		}
		if bad {
			h.t.Errorf("belay %q prints %.300q", args, line)
			return
		}
	}
}

// shows runs belay and checks both its streams. It returns what was printed on stdout.
func (h *hostile) shows(args ...string) string {
	h.t.Helper()
	cmd := h.command("belay-plain", args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	late := time.AfterFunc(testTimeout, func() { cmd.Process.Kill() })
	cmd.Run()
	late.Stop()
	if !slices.Contains(args, "claude") || slices.Contains(args, "--output-format") || args[0] != "run" { // whose answer is passed on as it is
		h.harmless(args, stdout.Bytes())
	}
	h.harmless(args, stderr.Bytes())
	h.calls++
	return stdout.String()
}

func newHostile(t *testing.T) *hostile {
	h := &hostile{run: newRun(t, 0)}
	h.play("claude", `
line() { printf '{%s,"session_id":"`+strings.ReplaceAll(evilJSON, `\`, `\\`)+`","uuid":"u"}\n' "$1"; }
echo "CHILD $(printf '\033[2J')" >&2
line '"type":"system","subtype":"init","claude_code_version":"2.1.325","model":"`+evilJSON+`"'
speak m1 10; spoken 5
line '"type":"assistant","message":{"id":"m1","model":"`+evilJSON+`","content":[{"type":"tool_use","id":"t1","name":"`+evilJSON+`","input":{}}]}'
answer t1
line '"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"API Error: 400 `+evilJSON+`","total_cost_usd":-1e308,"usage":{"input_tokens":5,"output_tokens":5},"modelUsage":{"`+evilJSON+`":{"inputTokens":5,"outputTokens":5}}'
exit 1`)
	for _, script := range []string{filepath.Join(h.dir, "players", evilName), filepath.Join(h.dir, evilName)} {
		text := "#!/bin/sh\nprintf 'CHILD %s' '" + strings.ReplaceAll(evilText, "\x00", "") + "' >&2\ncase $1 in wait) sleep 300 & exit 0 ;; hang) exec sleep 300 ;; esac\nexit 7\n"
		must.OK(t, built.WriteFile(script, []byte(text)))
	}
	return h
}

// Whatever a command calls itself and says, what Belay prints of it is plain text: every command that shows something, on both streams.
func TestHostile_EveryCommand(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	evil := "./" + evilName
	h.put("config/belay/config.toml", "[[rule]]\nname = \""+evilJSON+"\"\nmatch = \"boom\"\nclass = \"network\"\n[alert]\nfailures = 1\n")
	h.put("evil.txt", evilText)

	for _, flags := range [][]string{
		nil, {"--verbose"}, {"--max-retries", "1", "--base-delay", "0"}, {"--output-format", "text"}, {"--output-format", "json"}, {"--dry-run"},
		{"--max-retries", "1", "--base-delay", "0", "--verbose", "--gate", evilName}, {"--gate", "api"}, {"--scope", evilName, "--result-file", "result.json"},
		{"--timeout", "0.3s", "--verbose"}, {"--stall-timeout", "0.3s"}, {"--fail-on", "boom"}, {"--retry-on", evilName + "(", "--preset", evilName},
		{"--log-dir", evilName}, {"--cwd", evilName}, {"--prompt-file", evilName + "x"}, {"--result-file", "none/" + evilName}, {"--profile", evilName}, {"--resume", evilName},
	} {
		last := []string{evilName}
		if strings.HasSuffix(strings.Join(flags, " "), "-timeout 0.3s") || slices.Contains(flags, "0.3s") {
			last = []string{"hang"}
		}
		h.shows(slices.Concat([]string{"run"}, flags, []string{"--", evil}, last)...)
		h.shows(slices.Concat([]string{"run"}, flags, []string{"--", "claude", "-p", evilName})...)
	}
	h.shows("run", "--", evil, "wait")
	for _, p := range marked(idVar + "=" + h.id) { // which stays
		unix.Kill(p.pid, unix.SIGKILL)
	}
	h.shows("run", "--reap", "--", evil, "wait")
	h.shows("run", "--", "./"+evilName+"-missing")
	for range 3 {
		h.shows("hook", "--name", evilName, "--", evil, "wait")
		h.shows("hook", "--fail-closed", "--", evil)
		h.shows("hook", "--", "./missing-"+evilName)
	}

	// What waits, and what was killed while it did.
	h.shows("gates", "hold", "api", "--until", "1h", "--reason", evilName)
	h.shows("gates", "open", "other", "--reason", evilName)
	cmd := h.command("belay-plain", "run", "--gate", "api", "--max-wait", "2h", "--", evil)
	waiting, err := os.Create(filepath.Join(h.dir, "waiting"))
	must.OK(t, err)
	cmd.Stderr = waiting
	defer waiting.Close()
	must.OK(t, cmd.Start())
	if !within(testTimeout, func() bool { return strings.Contains(h.said("waiting"), "; waiting.") }) {
		t.Error("nothing waits")
	}
	h.shows("ps")
	h.shows("ps", "--json")
	h.shows("gates")
	h.shows("gates", "--json")
	h.shows("__complete", "cancel", "")
	h.shows("__complete", "gates", "reset", "")
	cmd.Process.Kill()
	cmd.Wait()
	h.harmless([]string{"run", "--gate"}, []byte(h.said("waiting")))
	h.shows("ps")
	h.shows("ps", "--reap")
	h.shows("cancel", evilName)

	h.evilLog()
	h.shows("log")
	seen := map[string]bool{}
	for line := range strings.Lines(h.shows("log", "--json", "-n", "0")) {
		var run struct{ ID, Profile, Model string }
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Errorf("%v: %.200s", err, line)
		}
		if kind := run.Profile + "|" + run.Model; !seen[kind] { // one of each
			seen[kind] = true
			h.shows("log", run.ID)
			h.shows("log", "--json", run.ID)
		}
	}
	if len(seen) < 3 {
		t.Errorf("kinds of runs: %q", slices.Collect(maps.Keys(seen)))
	}
	for _, name := range []string{"log", "events", "sessions", "alerts", "audit", "stats"} {
		h.shows(name)
		h.shows(name, "--json")
	}
	for _, args := range [][]string{
		{"log", "--attempts"}, {"log", "--attempts", "--json"}, {"log", evilName}, {"log", "--class", evilName}, {"log", "--since", evilName},
		{"events", "-n", "0"}, {"sessions", evilName}, {"sessions", "--status", evilName}, {"audit", "--action", "gate_hold"},
		{"stats", "--by", "model"}, {"stats", "--by", "model", "--csv"}, {"stats", "--by", "profile", "--csv"}, {"stats", "--by", evilName},
		{"prune", "--older-than", evilName}, {"prune", "--max-size", evilName}, {"prune", "--older-than", "1d", "--dry-run"},
		{"doctor"}, {"doctor", "--json"}, {"config", "show"}, {"config", "show", "--json"}, {"config", "show", "--profile", evilName},
		{"explain", "--exit-code", "1", "--stderr", "evil.txt", "--", evil}, {"explain", "--exit-code", "1", "--stderr", "evil.txt", "--json", "--", "claude"},
		{"explain", "--exit-code", evilName}, {"explain", "--signal", evilName}, {"explain", "--exit-code", "1", "--stderr", evilName + "x"},
		{"hook", "status"}, {"hook", "status", "--json"}, {"mcp", "status"}, {"mcp", "status", "--json"},
		{"hook", "install", "--client", "claude", "--dry-run"}, {"hook", "install", "--client", "claude", "--scope", "project"}, {"hook", "uninstall", "--client", "claude", "--scope", "project"},
		{"mcp", "install", "--client", "claude", "--scope", "project", "--dry-run"}, {"mcp", "install", "--client", "claude", "--scope", "project"}, {"mcp", "install", "--client", evilName},
		{"gates", "reset", evilName}, {"gates", "reset", "no" + evilName}, {"gates", "hold", evilName, "--until", evilName},
		{"rehearse", "--script", evilName, "--", "true"}, {"rehearse", "--script", "200", "--", evil}, {"rehearse", "--script-file", evilName + "x", "--", "true"},
		{evilName}, {"help", evilName}, {"run", "--" + evilName}, {"run", "--timeout", evilName, "--", "true"}, {"gates", evilName}, {"ps", "--" + evilName},
		{"__complete", "log", ""},
	} {
		h.settings()
		h.shows(args...)
	}
	t.Logf("%d calls", h.calls)
}

// said is what was written to a file so far.
func (h *hostile) said(name string) string {
	text, _ := os.ReadFile(filepath.Join(h.dir, name))
	return string(text)
}

// put writes a file, and makes the directories that it is in.
func (h *hostile) put(name, text string) {
	h.t.Helper()
	must.OK(h.t, os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o700))
	h.write(name, text)
}

// settings puts hostile hooks and servers into the settings of a client.
func (h *hostile) settings() {
	h.put(".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"`+evilJSON+`","hooks":[{"type":"command","command":"./`+evilJSON+`"},{"type":"`+evilJSON+`"}]}]}}`)
	h.put(".mcp.json", `{"mcpServers":{"`+evilJSON+`":{"command":"`+evilJSON+`","args":[]},"other":{"type":"`+evilJSON+`","url":"https://example.com"}}}`)
}

// evilLog adds lines to the log in which every text that is not one of a few words is hostile, and costs that cannot be.
func (h *hostile) evilLog() {
	h.t.Helper()
	path := filepath.Join(h.dir, "state", "log.jsonl")
	text, err := os.ReadFile(path)
	must.OK(h.t, err)
	words := []string{"timestamp", "start_time", "end_time", "kind", "status", "error_type", "schema", "category", "severity", "sent"}
	var more []byte
	n := 0
	for line := range strings.Lines(string(text)) {
		var entry map[string]any
		if json.Unmarshal([]byte(line), &entry) != nil {
			continue
		}
		n++
		for key, value := range entry {
			if _, isText := value.(string); isText && !slices.Contains(words, key) {
				entry[key] = "evil-" + evilName + key
			}
		}
		entry["session_id"], entry["model"], entry["gate"], entry["rule"] = evilName, evilName, evilName, evilName
		if usage, ok := entry["usage"].(map[string]any); ok {
			usage["total_cost_usd"] = []float64{-1e308, 1e300, 1e18}[n%3]
		}
		data, err := json.Marshal(entry)
		must.OK(h.t, err)
		more = append(append(more, bytes.ReplaceAll(data, []byte(`\u202e`), []byte("\u202e\u009b\x7f\xff"))...), '\n')
	}
	if n < 10 {
		h.t.Fatalf("%d lines are in the log", n)
	}
	must.OK(h.t, os.WriteFile(path, append(text, more...), 0o600))
}
