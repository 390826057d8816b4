//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/test/must"
)

// answers are calls of every command that prints something itself, by the command's name; those of several belong together and are made
// in their order.
var answers = map[string][]string{
	"belay":                       {"", "--help", "--version", "help", "help run", "help exit-codes"},
	"belay run":                   {"run --dry-run -- true", "run --dry-run --output-format json -- true"},
	"belay batch":                 {"batch --dry-run config/belay/config.toml -- true"},
	"belay batch status":          {"batch status results.jsonl", "batch status --json results.jsonl"},
	"belay batch results":         {"batch results results.jsonl"},
	"belay explain":               {"explain --exit-code 1", "explain --json --exit-code 1"},
	"belay ps":                    {"ps", "ps --json", "ps --reap"},
	"belay top":                   {"top", "top --json"},
	"belay attach":                {"attach --help"},
	"belay cancel":                {"cancel 0"},
	"belay gates":                 {"gates", "gates --json"},
	"belay gates hold":            {"gates hold other --until 5m"},
	"belay gates open":            {"gates open third"},
	"belay gates watch":           {"gates watch", "gates watch --json"},
	"belay gates reset":           {"gates reset other", "gates reset nothing"},
	"belay limits":                {"limits"},
	"belay budget":                {"budget", "budget --json"},
	"belay budget reset":          {"budget reset nightly"},
	"belay prices":                {"prices", "prices --json"},
	"belay config":                {"config"},
	"belay config show":           {"config show", "config show --json"},
	"belay profile":               {"profile"},
	"belay profile list":          {"profile list", "profile list --json"},
	"belay profile check":         {"profile check toy", "profile check toy --json"},
	"belay shim":                  {"shim"},
	"belay shim install":          {"shim install claude"},
	"belay shim status":           {"shim status", "shim status --json"},
	"belay shim remove":           {"shim remove"},
	"belay doctor":                {"doctor", "doctor --json"},
	"belay mcp":                   {"mcp --help"},
	"belay mcp install":           {"mcp install --client claude --scope user --dry-run", "mcp install --client claude --scope user"},
	"belay mcp status":            {"mcp status", "mcp status --client claude", "mcp status --client claude --json"},
	"belay mcp uninstall":         {"mcp uninstall --client claude --scope user"},
	"belay hook":                  {"hook --help"},
	"belay hook install":          {"hook install --client claude --scope user"},
	"belay hook status":           {"hook status", "hook status --json"},
	"belay hook uninstall":        {"hook uninstall --client claude --scope user"},
	"belay uninstall-all":         {"uninstall-all --dry-run", "uninstall-all --yes"},
	"belay rehearse":              {"rehearse --json --script 200 -- true"},
	"belay rehearse test":         {"rehearse test scenario.toml", "rehearse test --json scenario.toml"},
	"belay rehearse init":         {"rehearse init --help"},
	"belay certify":               {"certify --help"},
	"belay demo":                  {"demo"},
	"belay ui":                    {"ui --no-open"},
	"belay log":                   {"log", "log --json", "log --attempts", "log --tree"},
	"belay stats":                 {"stats", "stats --json", "stats --csv", "stats --by model"},
	"belay sessions check":        {"sessions check --help"},
	"belay sessions repair":       {"sessions repair --help"},
	"belay sessions show":         {"sessions show --help"},
	"belay trees":                 {"trees"},
	"belay trees drop":            {"trees drop --help"},
	"belay trees land":            {"trees land --help"},
	"belay trees show":            {"trees show --help"},
	"belay config check":          {"config check"},
	"belay events":                {"events", "events --json"},
	"belay sessions":              {"sessions", "sessions --json"},
	"belay alerts":                {"alerts"},
	"belay audit":                 {"audit", "audit --json"},
	"belay metrics":               {"metrics"},
	"belay report":                {"report", "report --format md"},
	"belay fleet":                 {"fleet"},
	"belay fleet init":            {"fleet init --help"},
	"belay fleet join":            {"fleet join --help"},
	"belay fleet drain":           {"fleet drain --help"},
	"belay fleet remove":          {"fleet remove --help"},
	"belay fleet status":          {"fleet status --help"},
	"belay fleet key":             {"fleet key"},
	"belay fleet key add":         {"fleet key add --help"},
	"belay fleet key list":        {"fleet key list --help"},
	"belay fleet key remove":      {"fleet key remove --help"},
	"belay telemetry":             {"telemetry", "telemetry --json", "telemetry --discard"},
	"belay prune":                 {"prune --older-than 90d --dry-run", "prune --older-than 90d --json"},
	"belay completion":            {"completion --help"},
	"belay completion bash":       {"completion bash"},
	"belay completion zsh":        {"completion zsh"},
	"belay completion fish":       {"completion fish"},
	"belay completion powershell": {"completion powershell"},
}

// An answer that does not arrive is a failure, and one line says so: the reader of the file has nothing, or half of it.
func TestFullStdout(t *testing.T) {
	t.Parallel()
	var each func(cmd *cobra.Command)
	found := map[string]bool{}
	each = func(cmd *cobra.Command) {
		if found[cmd.CommandPath()] = true; answers[cmd.CommandPath()] == nil {
			t.Errorf("%s has no call in this test", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			each(c)
		}
	}
	each(belay.New())
	t.Run("asking", func(t *testing.T) { // one home for all that change nothing in it
		t.Parallel()
		r := withRecord(t)
		r.start("belay", "run", "--", "sh", "-c", "echo ready; exec sleep 300")
		r.line("ready")
		result := `{"task":"a","hash":"0123456789abcdef","state":"done","cost_usd":0,"index":0,"line":1,"begun":"new","ended":"2026-11-17T00:00:00Z","success":true,"result":"x"}` + "\n"
		must.OK(t, os.WriteFile(filepath.Join(r.dir, "results.jsonl"), []byte(result), 0o600))
		must.OK(t, os.WriteFile(filepath.Join(r.dir, "scenario.toml"), []byte("shell = \"true\"\n[expect]\nexit = 0\n"), 0o600))
		for path, calls := range answers {
			if !changing[path] {
				r.failFull(append(calls, strings.TrimPrefix(path+" --help", "belay "))...)
			}
		}
		r.failFull("cancel --help", "cancel 0") // which ends the run that others tell of: as any id, its id begins with 0
		r.ends(143)
	})
	for path, calls := range answers {
		if !found[path] {
			t.Errorf("there is no command %s", path)
		}
		if changing[path] && path != "belay cancel" {
			t.Run(strings.ReplaceAll(path, " ", "-"), func(t *testing.T) {
				t.Parallel()
				withRecord(t).failFull(append(calls, strings.TrimPrefix(path+" --help", "belay "))...)
			})
		}
	}
}

// changing are the commands that change what the others tell of.
var changing = map[string]bool{"belay cancel": true, "belay gates hold": true, "belay gates open": true, "belay gates reset": true, "belay budget reset": true, "belay mcp install": true, "belay mcp uninstall": true,
	"belay hook install": true, "belay hook uninstall": true, "belay uninstall-all": true, "belay rehearse": true, "belay demo": true, "belay prune": true,
	"belay shim install": true, "belay shim remove": true}

// failFull makes calls whose answers find no room, and expects them to say so.
func (r *run) failFull(calls ...string) {
	r.t.Helper()
	for _, line := range calls {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		must.OK(r.t, err)
		cmd := r.command("belay", strings.Fields(line)...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		code := shellCode(cmd.Run())
		full.Close()
		if said := stderr.String(); code != 125 || said != "belay: cannot write to stdout: no space left on device\n" {
			r.t.Errorf("belay %s: exit code %d, %q", line, code, said)
		}
	}
}

// A reader that has left is told nothing: it knows. The signal ends Belay, as it does other programs.
func TestFullStdout_ReaderGone(t *testing.T) {
	t.Parallel()
	r := withRecord(t)
	for _, line := range []string{"ps", "gates --json", "config show", "log", "stats", "--help"} {
		reader, writer, err := os.Pipe()
		must.OK(t, err)
		reader.Close()
		cmd := r.command("belay-plain", strings.Fields(line)...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = writer, &stderr
		code := shellCode(cmd.Run())
		writer.Close()
		if code != 128+int(syscall.SIGPIPE) || stderr.Len() > 0 {
			t.Errorf("belay %s: exit code %d, %q", line, code, stderr.String())
		}
	}
}

// withRecord is a home with something to answer: a record, a gate that is closed, a budget, a profile, a hook and an MCP server.
func withRecord(t *testing.T) *run {
	t.Helper()
	r := newRun(t, 0)
	for _, dir := range []string{"config/belay", "home/.claude"} {
		must.OK(t, os.MkdirAll(r.dir+"/"+dir, 0o700))
	}
	r.write("config/belay/config.toml", "[budget.nightly]\nlimit = 5\nwindow = \"day\"\n[profile.toy]\ncommand = \"toy\"\nheadless = {always = true}\n")
	r.write("home/.claude.json", `{"mcpServers": {"db": {"command": "db-server"}}}`)
	r.write("home/.claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}`)
	r.command("belay-plain", "run", "--", "false").Run()
	log, err := os.OpenFile(r.dir+"/state/log.jsonl", os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	defer log.Close()
	if _, err := log.WriteString(recordOfSession); err != nil {
		t.Fatal(err)
	}
	r.says("gates", "hold", "api", "--until", "5m")
	return r
}

// recordOfSession is a line of the log that has all that the record's commands show.
const recordOfSession = `{"timestamp":"2026-10-24T20:01:00.000Z","invocation":"run-dddddddd","profile":"claude","command":"claude","model":"claude-opus-4-8-20260901","attempt":1,"status":"success","exit_code":0,"response_time":412,"session_id":"f583721f-ef85-4184-af55-30c30498d2ef","usage":{"input_tokens":1234567,"output_tokens":45678,"total_cost_usd":12.3456}}
`
