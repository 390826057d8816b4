package worktree

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
)

// Start starts a process and waits for its end.
type Start func(supervise.Spec) (supervise.Exit, error)

// gitTime is how long a call of git may take: it may have to fetch what a partial clone has left out.
const gitTime = 30 * time.Minute

// harmless keeps git from running what only it would run here: hooks, a file monitor, a program that signs, maintenance. What a repository's filters and
// merge drivers are is in the user's own settings, and its files are nothing without them.
const harmless = "core.hooksPath=" + os.DevNull + " core.fsmonitor=false core.safecrlf=false commit.gpgSign=false" +
	" submodule.recurse=false diff.ignoreSubmodules=all gc.auto=0 maintenance.auto=false rerere.enabled=false" +
	" merge.autoStash=false rebase.autoStash=false rebase.updateRefs=false rebase.autoSquash=false" +
	" rebase.rebaseMerges=false"

// quiet is the environment in which git asks nothing, and takes no lock only to be quicker later.
const quiet = "GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 GIT_EDITOR=true GIT_SEQUENCE_EDITOR=true LC_ALL=C"

// local are the variables that point git at another repository, or at another part of one.
const local = "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_PREFIX GIT_OBJECT_DIRECTORY GIT_NAMESPACE" +
	" GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_QUARANTINE_PATH GIT_INTERNAL_SUPER_PREFIX GIT_GRAFT_FILE GIT_SHALLOW_FILE" +
	" GIT_REFLOG_ACTION GIT_LITERAL_PATHSPECS GIT_GLOB_PATHSPECS GIT_NOGLOB_PATHSPECS GIT_ICASE_PATHSPECS" +
	" GIT_EXTERNAL_DIFF GIT_CEILING_DIRECTORIES"

// Environ is an environment without what points git elsewhere: a command that works in a tree of its own must not have that, as it has where a hook has
// started it.
func Environ(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return strings.HasPrefix(name, "GIT_") && slices.Contains(strings.Fields(local), name)
	})
}

// git is how git is called.
type git struct {
	start Start
	dir   string
	env   []string // beside the environment
	run   string   // marks what is started as part of a run, so that it ends with it; empty lets it come to its end though we are killed
}

// at is the repository that the directory is in, and the branch that is checked out there; empty if none is.
func (g git) at() (common, branch string, err error) {
	common, err = g.call("rev-parse", "--git-common-dir")
	if !filepath.IsAbs(common) {
		common = filepath.Join(g.dir, common)
	}
	head, _ := g.call("symbolic-ref", "--quiet", "HEAD")
	return filepath.Clean(common), strings.TrimPrefix(head, "refs/heads/"), err
}

// failure is a call of git that has failed.
type failure struct {
	command, said string
	code          int
}

func (f *failure) Error() string { return message.GitFailed(f.command, f.code, redact.Text(f.said)) }

// call calls git, and returns what it prints without the last line break.
func (g git) call(args ...string) (string, error) {
	path, err := supervise.Look("git", "")
	if err != nil {
		return "", errors.New("git was not found")
	}
	argv := []string{path}
	for setting := range strings.FieldsSeq(harmless) {
		argv = append(argv, "-c", setting)
	}
	var out bytes.Buffer
	var said supervise.Tail
	exit, err := g.start(supervise.Spec{
		Path: path, Args: append(argv, args...), Dir: g.dir, Stdout: &out, Stderr: &said, Timeout: gitTime,
		Env:   slices.Concat(Environ(os.Environ()), strings.Fields(quiet), g.env),
		RunID: g.run, Outlives: g.run == "", Placement: supervise.OwnSession,
	})
	if err == nil && exit.ShellCode() != 0 {
		err = &failure{args[0], said.String(), exit.ShellCode()}
	}
	return strings.TrimSuffix(out.String(), "\n"), err
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

// object is the name of the commit or the tree that an expression stands for; empty if there is none.
func (g git) object(expression string) string {
	text, err := g.call("rev-parse", "--verify", "--quiet", "--end-of-options", expression)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(text, "--end-of-options\n")
}
