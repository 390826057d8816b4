package belay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// script makes an executable of a name, in a directory of its own, and returns its path.
func script(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	err := built.WriteFile(path, []byte("#!/bin/sh\n"+text))
	must.OK(t, err)
	return path
}

const session = "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"

// event is a line of shell that prints an event of claude's.
func event(format string, args ...any) string {
	return fmt.Sprintf("echo '{\"session_id\":\"%s\",%s}'\n", session, fmt.Sprintf(format, args...))
}

// What a scripted claude prints.
var (
	begins   = event(`"type":"system","subtype":"init","model":"m","claude_code_version":"2.1.325"`)
	answers  = event(`"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"It is done."}]}`)
	succeeds = event(`"type":"result","subtype":"success","is_error":false,"result":"It is done.","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":20}`)
	fails    = event(`"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 Overloaded","num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":100,"output_tokens":20}`)
	retries  = event(`"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":1,"error_status":529,"error":"overloaded"`)
)

// scripted is an agent whose claude is a shell script.
func scripted(t *testing.T, text string) *belay.Agent {
	t.Helper()
	claude := belay.Claude("Do it.")
	claude.Path, claude.Dir = script(t, "claude", text), t.TempDir()
	// A gate of its own: that of the account is shared by all tests of the process.
	claude.Runner.Gate.Key = t.Name()
	return claude
}

// sh is a command that a shell runs.
func sh(text string) belay.Command { return belay.Command{Args: []string{"sh", "-c", text}} }

// files are the files below a directory, as their paths within it.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && path != dir {
			list = append(list, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	must.OK(t, err)
	return list
}
