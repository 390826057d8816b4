package worktree

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
)

// Start starts a process and waits for its end.
type Start func(supervise.Spec) (supervise.Exit, error)

// gitTime is how long a call of git may take: it may have to fetch what a partial clone has left out.
const gitTime = 30 * time.Minute

// harmless keeps git from running what only it would run here: hooks, a file monitor, an editor, a program that signs, maintenance. What a repository's
// filters and merge drivers are is in the user's own settings, and its files are nothing without them.
var harmless = []string{"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.editor=true", "sequence.editor=true", "core.pager=cat", "core.safecrlf=false",
	"commit.gpgSign=false", "submodule.recurse=false", "diff.ignoreSubmodules=all", "gc.auto=0", "maintenance.auto=false", "rerere.enabled=false", "merge.autoStash=false",
	"rebase.autoStash=false", "rebase.updateRefs=false", "rebase.autoSquash=false", "rebase.rebaseMerges=false", "rebase.abbreviateCommands=false",
	"advice.addEmbeddedRepo=false", "advice.detachedHead=false"}

// Local are the variables that point git at another repository, or at another part of one: a command that works in a tree of its own must not have them, as
// it has them where a hook has started it.
var Local = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_INTERNAL_SUPER_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS",
	"GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_CEILING_DIRECTORIES"}

// Environ is an environment without [Local].
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return slices.Contains(Local, name)
	})
}

// git is how git is called.
type git struct {
	start Start
	dir   string
	env   []string // beside the environment
	run   string   // marks what is started as part of a run, so that it ends with it; empty lets it come to its end though we are killed
}

// with is the same with further variables.
func (g git) with(env ...string) git {
	g.env = slices.Concat(g.env, env)
	return g
}

// failure is a call of git that has failed.
type failure struct {
	command, said string
	code          int
}

func (f *failure) Error() string {
	return message.FilesGitFailed(f.command, f.code, f.said)
}

// call calls git, and returns what it prints without the last line break.
func (g git) call(args ...string) (string, error) {
	path, err := supervise.Look("git", "")
	if err != nil {
		return "", errors.New("git was not found")
	}
	argv := []string{path}
	for _, setting := range harmless {
		argv = append(argv, "-c", setting)
	}
	env := append(Environ(os.Environ()), "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_MERGE_AUTOEDIT=no", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "LC_ALL=C")
	var out bytes.Buffer
	var said supervise.Tail
	exit, err := g.start(supervise.Spec{Path: path, Args: append(argv, args...), Dir: g.dir, Env: append(env, g.env...), RunID: g.run, Outlives: g.run == "",
		Stdout: &out, Stderr: &said, Placement: supervise.OwnSession, Timeout: gitTime})
	switch {
	case err != nil:
		return "", err
	case exit.ShellCode() != 0:
		return out.String(), &failure{command: args[0], said: printable.CutEnd(printable.Line(redact.Text(reason(said.String()))), 200, "…"), code: exit.ShellCode()}
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// try calls git for what it does, not for what it prints.
func (g git) try(args ...string) error {
	_, err := g.call(args...)
	return err
}

// names are what git prints with -z.
func (g git) names(args ...string) ([]string, error) {
	text, err := g.call(args...)
	return strings.FieldsFunc(text, func(r rune) bool { return r == 0 }), err
}

// is asks a question that git answers with exit code 0 or 1.
func (g git) is(args ...string) bool { return g.try(args...) == nil }

// reason is the line in which git says why it has failed: the first with "fatal" or "error", or the last one.
func reason(text string) (line string) {
	for one := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.HasPrefix(one, "fatal: ") || strings.HasPrefix(one, "error: ") {
			return one
		}
		line = one
	}
	return line
}
