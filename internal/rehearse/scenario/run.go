package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// usualTimeout is how long a program may take.
const usualTimeout = 2 * time.Minute

// maxOutput is how much of each stream is kept for the expectations: its end.
const maxOutput = 1 << 20

// Host is where scenarios are run.
type Host struct {
	// Belay is the executable of belay, which is first on the PATH of the programs.
	Belay string
	// Environ is what they get, under the variables of the rehearsal; settings of belay in it are left out.
	Environ []string
}

// Seen is what a program did.
type Seen struct {
	Exit     int
	TimedOut bool
	Stdout   string
	Stderr   string
	Begun    time.Time
	Took     time.Duration
	Requests []rehearse.Request // that are part of the work
	Unused   []string           // steps of the script that no request has reached
	Runs     []journal.Entry    // attempts of belay run, in the order of the log
	Left     []string           // processes that still ran; they have been ended
	Files    map[string]string  // of those that something is expected of
	Issues   map[string]int     // how many there are on GitHub, by repository
}

// Run tries a scenario with stand-ins, a home and a directory of its own, all of which are gone at its end. The error says why it could not be tried.
func (s *Scenario) Run(ctx context.Context, host Host) (seen *Seen, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := rehearse.MakeDir()
	if err != nil {
		return nil, err
	}
	defer dir.Remove()
	api, err := rehearse.Options{Dir: dir.Path}.Start(s.script())
	if err != nil {
		return nil, err
	}
	defer api.Close()
	for repo, issues := range s.GitHub {
		for _, i := range issues {
			api.GitHub().Add(repo, i.Title, i.Body, i.Labels)
		}
	}
	work := filepath.Join(dir.Path, "work")
	if err := s.prepare(work); err != nil {
		return nil, err
	}
	stdin, err := s.stdin(dir.Path)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()

	command := s.Command
	if s.Shell != "" {
		command = []string{"sh", "-c", s.Shell}
	}
	env := s.environ(host, api, dir.Path, work)
	path := host.Belay
	if command[0] != "belay" {
		if path, err = supervise.Look(command[0], work); err != nil {
			return nil, err
		}
	}
	stdout, stderr, err := outputs(dir.Path)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	defer stderr.Close()
	spec := supervise.Spec{Path: path, Args: command, Dir: work, Env: env, RunID: filepath.Base(dir.Path), Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Placement: supervise.OwnSession, Timeout: cmp.Or(time.Duration(s.Timeout), usualTimeout)}
	seen = &Seen{Begun: time.Now()}
	var process *supervise.Process
	var supervisor supervise.Supervisor
	exit, err := supervisor.Run(spec, func(p *supervise.Process) {
		process = p
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
	})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	seen.Took, seen.Exit, seen.TimedOut = time.Since(seen.Begun), exit.ShellCode(), exit.Reason == supervise.Deadline
	for _, p := range exit.Left {
		seen.Left = append(seen.Left, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	process.EndTree()
	api.Close()
	seen.Stdout, seen.Stderr = end(stdout), end(stderr)
	seen.Requests, seen.Unused = api.Main(), api.Unused()
	if log, err := os.Open((&state.State{Dir: filepath.Join(dir.Path, "state")}).LogPath()); err == nil {
		for e := range journal.Read(log, nil) {
			if e.Kind == "" {
				seen.Runs = append(seen.Runs, e)
			}
		}
		log.Close()
	}
	seen.Issues = map[string]int{}
	for _, i := range api.GitHub().Issues() {
		seen.Issues[i.Repository]++
	}
	return seen, seen.look(work, s.Expect)
}

// prepare makes the directory in which the program starts.
func (s *Scenario) prepare(work string) error {
	if err := os.Mkdir(work, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range s.Copy {
		if err := copyInto(root, filepath.Join(filepath.Dir(s.path), name), name); err != nil {
			return err
		}
	}
	for name, text := range s.Files {
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := root.WriteFile(name, []byte(text), mode); err != nil {
			return err
		}
	}
	if !s.Git {
		return nil
	}
	return commit(work)
}

// copyInto copies a file, or a directory with all that is in it, into the directory of the test.
func copyInto(root *os.Root, from, name string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		entries, err := os.ReadDir(from)
		for _, e := range entries {
			err = errors.Join(err, copyInto(root, filepath.Join(from, e.Name()), filepath.Join(name, e.Name())))
		}
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(root.MkdirAll(filepath.Dir(name), 0o700), root.WriteFile(name, data, info.Mode().Perm()))
}

// commit makes the directory a repository of git, of which all that is in it is the first commit.
func commit(work string) error {
	path, err := supervise.Look("git", "")
	if err != nil {
		return err
	}
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Belay", "GIT_AUTHOR_EMAIL=belay@localhost",
		"GIT_COMMITTER_NAME=Belay", "GIT_COMMITTER_EMAIL=belay@localhost")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "--allow-empty", "-m", "Start"}} {
		var out supervise.Tail
		exit, err := new(supervise.Supervisor).Run(supervise.Spec{Path: path, Args: append([]string{"git"}, args...), Dir: work, Env: env, Stderr: &out}, nil)
		if err == nil && exit.ShellCode() != 0 {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(out.String()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stdin is a file with what the program reads.
func (s *Scenario) stdin(dir string) (*os.File, error) {
	name := filepath.Join(dir, "stdin")
	if err := os.WriteFile(name, []byte(s.Stdin), 0o600); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// outputs are files for what the program prints.
func outputs(dir string) (stdout, stderr *os.File, err error) {
	if stdout, err = os.Create(filepath.Join(dir, "stdout")); err != nil {
		return nil, nil, err
	}
	if stderr, err = os.Create(filepath.Join(dir, "stderr")); err != nil {
		stdout.Close()
	}
	return stdout, stderr, err
}

// end is the end of what was printed.
func end(f *os.File) string {
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-maxOutput), maxOutput))
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// environ is what the program gets: nothing of the user's settings, so that it does the same everywhere.
func (s *Scenario) environ(host Host, api *rehearse.API, dir, work string) []string {
	env := slices.DeleteFunc(slices.Clone(host.Environ), func(kv string) bool {
		return strings.HasPrefix(kv, "BELAY_") || strings.HasPrefix(kv, "XDG_CONFIG_HOME=")
	})
	path := filepath.Dir(host.Belay)
	for _, kv := range host.Environ {
		if rest, ok := strings.CutPrefix(kv, "PATH="); ok {
			path += string(filepath.ListSeparator) + rest
		}
	}
	over := append(api.Environ(), "PATH="+path, "PWD="+work, state.DirVar+"="+filepath.Join(dir, "state"), state.RehearsalVar+"=1")
	for _, cli := range profile.All() {
		for _, v := range cli.Variables {
			if v.Setting == "log-dir" {
				over = append(over, v.Name+"="+filepath.Join(dir, "logs"))
			}
		}
	}
	for name, value := range s.Env {
		over = append(over, name+"="+value)
	}
	return rehearse.Over(env, over)
}

// look reads what is expected of files.
func (seen *Seen) look(work string, expect Expect) error {
	root, err := os.OpenRoot(work)
	if err != nil {
		return err
	}
	defer root.Close()
	seen.Files = map[string]string{}
	for name := range expect.Files {
		if data, err := root.ReadFile(name); err == nil {
			seen.Files[name] = string(data)
		}
	}
	return nil
}
