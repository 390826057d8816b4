// Package rehearsal runs a command as belay run does, against the stand-ins of package rehearse: [Rehearsal.Perform] is one, and a [Report] says what was
// requested, what was answered, and what belay made of it.
package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/state"
)

// Rehearsal is a run of belay run against stand-ins.
type Rehearsal struct {
	Script     string
	Dir        string   // of homes and state; empty means a temporary one
	ResultFile string   // where the user wants belay run's result; empty for nowhere
	Belay      string   // the executable
	Run        []string // flags of belay run, --, the command
	// Start runs belay with arguments and an environment, and returns its exit code.
	Start func(ctx context.Context, args, env []string) (int, error)
}

// Perform runs the command. A mistake in the script is a [*rehearse.SyntaxError].
func (r *Rehearsal) Perform(ctx context.Context) (*Report, error) {
	dir := r.Dir
	if dir == "" {
		made, err := rehearse.MakeDir()
		if err != nil {
			return nil, err
		}
		defer made.Remove()
		dir = made.Path
	}
	api, err := rehearse.Options{Dir: dir}.Start(r.Script)
	if err != nil {
		return nil, err
	}
	defer api.Close()

	result := r.ResultFile
	args := []string{r.Belay, "run"}
	if result == "" {
		result = filepath.Join(dir, "result.json")
		args = append(args, "--result-file", result)
	}
	over := Environ(api, dir)
	if dir := userConfig(); dir != "" {
		over = append(over, "XDG_CONFIG_HOME="+dir)
	}
	begun := time.Now()
	code, err := r.Start(ctx, append(args, r.Run...), rehearse.Over(os.Environ(), over))
	if err != nil {
		return nil, message.Error(fmt.Sprintf("cannot start belay run: %v", err), err)
	}
	api.Close()
	return &Report{script: r.Script, begun: begun, requests: api.Requests(), unused: api.Unused(), result: readResult(result), ExitCode: code}, nil
}

// Environ is what a program gets over its environment: the stand-ins, and in the directory a state and logs of its own.
func Environ(api *rehearse.API, dir string) []string {
	over := append(api.Environ(), state.DirVar+"="+filepath.Join(dir, "state"), state.RehearsalVar+"=1")
	for _, cli := range profile.All() {
		for _, v := range cli.Variables {
			if v.Setting == "log-dir" {
				over = append(over, v.Name+"="+filepath.Join(dir, "logs"))
			}
		}
	}
	return over
}

// userConfig is where the user's settings of belay are, if the rehearsal's own HOME would hide them: a rehearsal uses
// them.
func userConfig() string {
	home, err := os.UserHomeDir()
	if err != nil || os.Getenv("XDG_CONFIG_HOME") != "" {
		return ""
	}
	dir := filepath.Join(home, ".config")
	if _, err := os.Stat(filepath.Join(dir, "belay", "config.toml")); err != nil {
		return ""
	}
	return dir
}

// readResult is belay run's own result; nil if it has left none.
func readResult(path string) json.RawMessage {
	data, err := os.ReadFile(path)
	if err != nil || !json.Valid(data) {
		return nil
	}
	return data
}
