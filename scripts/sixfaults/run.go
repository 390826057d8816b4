package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/supervise"
)

// bench is what the runs have in common.
type bench struct {
	belay string        // the executable
	clis  string        // where scripts/setup-clis has installed the CLIs
	limit time.Duration // a CLI on its own is stopped after so long
}

// belayLimit stops belay run where it does not end by itself. None of the faults should get there.
const belayLimit = 5 * time.Minute

// outcome is what came of a run.
type outcome struct {
	code     int
	took     time.Duration
	answered bool
	stopped  bool   // by the limit
	message  string // the error, in the program's own words
}

// run plays a fault to a CLI in a new home: on its own, or under belay run.
func (b *bench) run(cli *agent.Descriptor, f *fault, belay bool) (outcome, error) {
	dir, err := rehearse.MakeDir()
	if err != nil {
		return outcome{}, err
	}
	defer dir.Remove()
	work, result := filepath.Join(dir.Path, "work"), filepath.Join(dir.Path, "result.json")
	if err := os.Mkdir(work, 0o700); err != nil {
		return outcome{}, err
	}
	api, err := rehearse.Options{Dir: dir.Path}.Start(f.script())
	if err != nil {
		return outcome{}, err
	}
	defer api.Close()

	args := slices.Concat([]string{filepath.Join(b.clis, cli.Name+"-"+cli.Tested[0], cli.Name)}, cli.Rehearsal.Ask)
	limit := b.limit
	if belay {
		args = slices.Concat([]string{b.belay, "run", "--result-file", result}, f.flags, []string{"--"}, args)
		limit = belayLimit
	}
	var stdout, stderr bytes.Buffer
	exit, err := new(supervise.Supervisor).Run(supervise.Spec{Path: args[0], Args: args, Dir: work, Env: environment(dir.Path, api),
		Stdout: &stdout, Stderr: &stderr, Placement: supervise.OwnSession, Timeout: limit}, nil)
	if err != nil {
		return outcome{}, fmt.Errorf("cannot run %s: %w", args[0], err)
	}
	o := outcome{code: exit.ShellCode(), took: exit.Duration, stopped: exit.Reason == supervise.Deadline,
		answered: strings.TrimSpace(stdout.String()) == answer}
	if o.message = lastLine(stdout.String()); o.message == "" {
		o.message = lastLine(stderr.String())
	}
	if belay {
		o.message = errorIn(result)
	}
	return o, nil
}

// environment is all that the programs see, so that no setting of the machine changes what comes of a run.
func environment(dir string, api *rehearse.API) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC", "BELAY_STATE_DIR=" + filepath.Join(dir, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config")}
	for _, kv := range api.Environ() {
		if !strings.HasSuffix(kv, "=") { // which says that the variable must not be there
			env = append(env, kv)
		}
	}
	return env
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// errorIn is the error in a result of belay run; empty if there is none.
func errorIn(path string) string {
	var result struct{ Error string }
	if data, err := os.ReadFile(path); err == nil {
		json.Unmarshal(data, &result) // a result that cannot be read has no error to show
	}
	return result.Error
}
