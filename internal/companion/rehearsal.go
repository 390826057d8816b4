package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/state"
)

// rehearsal is belay rehearse: a run of belay run against stand-ins.
type rehearsal struct {
	script     string
	dir        string // of homes and state; empty means a temporary one
	json       bool   // the report replaces stdout
	reportFile string
	resultFile string   // where the user wants belay run's result
	run        []string // flags of belay run, --, the command
}

func rehearseCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	r := rehearsal{script: args.text("script"), dir: args.text("dir"), json: args.on("json"), reportFile: args.text("report-file"),
		resultFile: args.text("result-file"), run: args.rest}
	file := args.text("script-file")
	if name, isFile := strings.CutPrefix(r.script, "@"); isFile {
		file = name
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, &usageError{err: message.Error(fmt.Sprintf("cannot read the script: %v", err), err)}
		}
		r.script = string(text)
	}
	return r.perform(ctx, from)
}

// perform runs the command and reports. The exit code is belay run's.
func (r *rehearsal) perform(ctx context.Context, from caller) (code int, err error) {
	dir, remove, err := r.workplace()
	if err != nil {
		return 0, err
	}
	defer remove()
	api, err := startAPI(r.script, dir)
	if err != nil {
		return 0, err
	}
	defer api.Close()

	result := r.resultFile
	args := []string{from.path, "run"}
	if result == "" {
		result = filepath.Join(dir, "result.json")
		args = append(args, "--result-file", result)
	}
	over := append(api.Environ(), state.DirVar+"="+filepath.Join(dir, "state"), state.RehearsalVar+"=1")
	for _, cli := range profile.All() {
		for _, v := range cli.Variables {
			if v.Setting == "log-dir" {
				over = append(over, v.Name+"="+filepath.Join(dir, "logs"))
			}
		}
	}
	if dir := userConfig(); dir != "" {
		over = append(over, "XDG_CONFIG_HOME="+dir)
	}
	env := environment(os.Environ(), over)
	stdout := from.Out.Raw()
	if r.json {
		stdout = nil
	}
	begun := time.Now()
	code, err = from.runChild(ctx, append(args, r.run...), env, stdout)
	if err != nil {
		return 0, message.Error(fmt.Sprintf("cannot start belay run: %v", err), err)
	}
	api.Close()
	return code, r.write(from, &rehearsalReport{script: r.script, begun: begun, requests: api.Requests(), unused: api.Unused(),
		result: readResult(result), exitCode: code})
}

// write puts the report where it was asked for.
func (r *rehearsal) write(from caller, rep *rehearsalReport) error {
	if r.reportFile != "" {
		f, err := os.OpenFile(r.reportFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			err = errors.Join(rep.writeJSON(f), f.Close())
		}
		if err != nil {
			from.say(message.ReportNotWritten(err)) // the exit code stays that of the run, which is done
		}
	}
	if r.json {
		return rep.writeJSON(from.Out)
	}
	return rep.writeText(from.Err)
}

// workplace is the directory for homes and state during the rehearsal.
func (r *rehearsal) workplace() (dir string, remove func(), err error) {
	if r.dir == "" {
		made, err := rehearse.MakeDir()
		if err != nil {
			return "", nil, err
		}
		return made.Path, func() { made.Remove() }, nil
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", nil, &usageError{err: fmt.Errorf("--dir: %w", err)}
	}
	dir, err = filepath.Abs(r.dir)
	return dir, func() {}, err
}

// startAPI starts the stand-ins; a mistake in the script is shown at its place.
func startAPI(script, dir string) (*rehearse.API, error) {
	api, err := rehearse.Options{Dir: dir}.Start(script)
	if wrong, ok := errors.AsType[*rehearse.SyntaxError](err); ok {
		return nil, &usageError{err: wrong, more: "  " + strings.ReplaceAll(wrong.Caret(), "\n", "\n  ") + "\n"}
	}
	return api, err
}

// environment is this process's environment with the rehearsal's over it. Variables that are empty there are removed.
func environment(ours, over []string) []string {
	name := func(kv string) string {
		text, _, _ := strings.Cut(kv, "=")
		return text
	}
	set := map[string]bool{}
	for _, kv := range over {
		set[name(kv)] = true
	}
	env := slices.DeleteFunc(slices.Clone(ours), func(kv string) bool { return set[name(kv)] })
	return append(env, slices.DeleteFunc(slices.Clone(over), func(kv string) bool { return strings.HasSuffix(kv, "=") })...)
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
