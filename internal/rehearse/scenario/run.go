package scenario

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/rehearse/rehearsal"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

const (
	maxOutput = 1 << 20 // of each stream is kept for the expectations: its end
	maxCopied = 1 << 30 // is more than any file that is copied
)

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
	Issues   []rehearse.Issue   // on GitHub, pull requests too
}

// Run tries a scenario, in which belay is this executable, with stand-ins, a home and a directory of its own, all of which are gone at its end. The error says why it could not be tried.
func (s *Scenario) Run(ctx context.Context, belay string) (seen *Seen, err error) {
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
	env := s.environ(belay, append(rehearsal.Environ(api, dir.Path), "PWD="+work))
	syscall.ForkLock.RLock() // a process forked now would hold the files open, and a program among them could not be started
	err = s.prepare(work)
	syscall.ForkLock.RUnlock()
	if err == nil && s.Git {
		err = commit(work, env)
	}
	if err != nil {
		return nil, err
	}
	input := filepath.Join(dir.Path, "stdin")
	if err := os.WriteFile(input, []byte(s.Stdin), 0o600); err != nil {
		return nil, err
	}
	stdin, err := os.Open(input)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()

	command := s.Command
	if s.Shell != "" {
		command = []string{"sh", "-c", s.Shell}
	}
	path := belay
	if command[0] != "belay" {
		if path, err = supervise.Look(command[0], work); err != nil {
			return nil, err
		}
	}
	// Not in files: what prints without end does not fill the disk.
	stdout, stderr := verdict.NewCapture(0, maxOutput), verdict.NewCapture(0, maxOutput)
	spec := supervise.Spec{Path: path, Args: command, Dir: work, Env: env, RunID: filepath.Base(dir.Path), Stdin: stdin, Stdout: stdout, Stderr: stderr, InMemory: true,
		Placement: supervise.OwnSession, Timeout: cmp.Or(time.Duration(s.Timeout), 2*time.Minute)}
	seen = &Seen{Begun: time.Now(), Files: map[string]string{}}
	var process *supervise.Process
	exit, err := new(supervise.Supervisor).Run(spec, func(p *supervise.Process) {
		process = p
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	seen.Took, seen.Exit, seen.TimedOut = time.Since(seen.Begun), exit.ShellCode(), exit.Reason == supervise.Deadline
	for _, p := range exit.Left {
		seen.Left = append(seen.Left, fmt.Sprintf("%s (%d)", p.Name, p.PID))
	}
	killed, _ := process.EndTree() // which finds those too that have left the tree
	for range killed - len(exit.Left) {
		seen.Left = append(seen.Left, "one in a session of its own")
	}
	api.Close()
	seen.Stdout, seen.Stderr = strings.ToValidUTF8(stdout.Excerpt().Text(), "\uFFFD"), strings.ToValidUTF8(stderr.Excerpt().Text(), "\uFFFD")
	seen.Requests, seen.Unused, seen.Issues = api.Main(), api.Unused(), api.GitHub().Issues()
	seen.Runs = RunsOf(&state.State{Dir: filepath.Join(dir.Path, "state")}, "")
	for name := range s.Expect.Files {
		if data, err := safefile.ReadRegular(filepath.Join(work, name), maxOutput); err == nil {
			seen.Files[name] = string(data)
		}
	}
	return seen, nil
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
		if err := copyInto(root, filepath.Join(filepath.Dir(s.File), name), name); err != nil {
			return fmt.Errorf("copy: %w", err)
		}
	}
	for name, text := range s.Files {
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := cmp.Or(root.MkdirAll(filepath.Dir(name), 0o700), root.WriteFile(name, []byte(text), mode)); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	return nil
}

// copyInto copies a file, or a directory with all that is in it, into the directory of the test. Links in a directory stay links.
func copyInto(root *os.Root, from, name string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(filepath.Join(root.Name(), name), os.DirFS(from))
	}
	data, err := safefile.ReadRegular(from, maxCopied)
	if err != nil {
		return err
	}
	return cmp.Or(root.MkdirAll(filepath.Dir(name), 0o700), root.WriteFile(name, data, info.Mode().Perm()))
}

// commit makes the directory a repository of git, of which all that is in it is the first commit.
func commit(work string, env []string) error {
	path, err := supervise.Look("sh", "")
	if err != nil {
		return err
	}
	const line = "git init -q -b main && git add -A && git -c user.name=Belay -c user.email=belay@localhost commit -q --allow-empty -m Start"
	var out supervise.Tail
	exit, err := new(supervise.Supervisor).Run(supervise.Spec{Path: path, Args: []string{"sh", "-c", line}, Dir: work, Env: env, Stderr: &out}, nil)
	if err == nil && exit.ShellCode() != 0 {
		err = fmt.Errorf("git: %s", trimmed(out.String()))
	}
	return err
}

// environ is what the program gets: nothing of the user's settings, so that it does the same everywhere. What a hook of git is told would lead it to the
// user's repository.
func (s *Scenario) environ(belay string, over []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "BELAY_") || strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "XDG_CONFIG_HOME=")
	})
	over = append(over, "PATH="+filepath.Dir(belay)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for name, value := range s.Env {
		over = append(over, name+"="+value)
	}
	return rehearse.Over(env, over)
}

// RunsOf are the attempts in the log of the run that a part of its id means, or of all runs if that is empty.
func RunsOf(s *state.State, id string) (run []journal.Entry) {
	s.Recent(math.MaxInt64, func(e journal.Entry) {
		if e.Kind == "" && (id == "" || printable.IsPart(id, e.Invocation)) {
			run = append(run, e)
		}
	})
	return run
}
