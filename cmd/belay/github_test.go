//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/actionstest"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/test/must"
)

// An agent whose session, model and errors are hostile texts cannot give a command to the runner of GitHub Actions, nor an output: there is
// one annotation, of Belay's, and six outputs. Not in what Belay says meanwhile either.
func TestGitHub_Hostile(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	bin := filepath.Join(r.dir, "agents")
	must.OK(t, os.Mkdir(bin, 0o700))
	r.write("agents/claude", "#!/bin/sh\necho x >> calls\n[ \"$(wc -l < calls)\" = 1 ] && cat fails && exit 1\ncat succeeds\n")
	must.OK(t, os.Chmod(filepath.Join(bin, "claude"), 0o700))
	r.env = []string{"PATH=" + programs(r.t) + ":" + bin + ":" + os.Getenv("PATH"), "GITHUB_ACTIONS=true", "GITHUB_OUTPUT=output", "GITHUB_STEP_SUMMARY=summary"}
	for i, text := range actionstest.Hostile {
		if text == "" || !clitest.OneOf(6, i) { // a session without a name is none; FuzzForgery has all texts every day
			continue
		}
		quoted, err := json.Marshal(text)
		must.OK(t, err)
		begin := fmt.Sprintf(`{"type":"system","subtype":"init","session_id":%[1]s,"model":%[1]s,"claude_code_version":%[1]s}`, quoted)
		tool := fmt.Sprintf(`{"type":"assistant","message":{"id":"m1","model":%[1]s,"content":[{"type":"tool_use","id":"t1","name":%[1]s,"input":{}}]},"session_id":%[1]s}`, quoted)
		said, _ := json.Marshal("API Error: 500 internal error: " + text)
		r.write("fails", begin+"\n"+fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"result":%s,"session_id":%s}`, said, quoted)+"\n")
		r.write("succeeds", begin+"\n"+tool+"\n"+fmt.Sprintf(`{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":%s}`, quoted)+"\n")
		for level, retries := range map[string]string{"warning": "20", "error": "0"} {
			for _, name := range []string{"calls", "output", "summary"} {
				os.Remove(filepath.Join(r.dir, name))
			}
			cmd := r.command("belay-plain", "run", "--github", "--verbose", "--no-gate", "--log-dir", "none", "--name", "a ##[error]b", "--tag", "team=::error::x", "--max-retries", retries, "--base-delay", "0",
				"--", "claude", "-p", "hi")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			cmd.Run()
			found := actionstest.Commands(stderr.String())
			if len(found) != 1 || found[0].Name != level || len(found[0].Properties) != 1 || !strings.HasPrefix(found[0].Properties["title"], "belay: a ##[error]b: claude ") {
				t.Errorf("%q: commands %q in\n%s", text, found, stderr.String())
			}
			file, err := os.ReadFile(filepath.Join(r.dir, "output"))
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if got, err := actionstest.Outputs(string(file)); err != nil || len(got) != 6 || got["error_type"] == "evil" || got["session_id"] == "evil" {
				t.Errorf("%q: outputs %q, %v", text, got, err)
			}
		}
	}
}
