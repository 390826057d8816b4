package scenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/rehearse/rehearsal"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// usualTimeout is how long a program may take.
const usualTimeout = 2 * time.Minute

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
	Issues   map[string]int     // how many there are on GitHub, by repository
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
	if err := s.prepare(work, env); err != nil {
		return nil, err
	}
	stdin, err := os.Create(filepath.Join(dir.Path, "stdin"))
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	_, err = stdin.WriteString(s.Stdin)
	if _, wrong := stdin.Seek(0, io.SeekStart); err != nil || wrong != nil {
		return nil, cmp.Or(err, wrong)
	}

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
		Placement: supervise.OwnSession, Timeout: cmp.Or(time.Duration(s.Timeout), usualTimeout)}
	seen = &Seen{Begun: time.Now(), Files: map[string]string{}, Issues: map[string]int{}}
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
	seen.Stdout, seen.Stderr = text(stdout), text(stderr)
	seen.Requests, seen.Unused = api.Main(), api.Unused()
	for _, i := range api.GitHub().Issues() {
		seen.Issues[i.Repository]++
	}
	seen.look(dir.Path, work, s.Expect)
	return seen, nil
}

// prepare makes the directory in which the program starts.
func (s *Scenario) prepare(work string, env []string) error {
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
	if !s.Git {
		return nil
	}
	return commit(work, env)
}

// copyInto copies a file, or a directory with all that is in it, into the directory of the test. Links in a directory stay links.
func copyInto(root *os.Root, from, name string) error {
	if real, err := filepath.EvalSymlinks(from); err == nil {
		from = real
	}
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

// text is the end of what was printed.
func text(c *verdict.Capture) string {
	e := c.Excerpt()
	return strings.ToValidUTF8(string(e.Head)+string(e.Tail), "\uFFFD")
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

// look reads what belay run has logged, and files of which something is expected.
func (seen *Seen) look(dir, work string, expect Expect) {
	if log, err := os.Open((&state.State{Dir: filepath.Join(dir, "state")}).LogPath()); err == nil {
		defer log.Close()
		for e := range journal.Read(log, nil) {
			if e.Kind == "" {
				seen.Runs = append(seen.Runs, e)
			}
		}
	}
	for name := range expect.Files {
		if data, err := safefile.ReadRegular(filepath.Join(work, name), maxOutput); err == nil {
			seen.Files[name] = string(data)
		}
	}
}
