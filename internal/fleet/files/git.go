package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
)

// gitTime is how long a call of git may take that uses no network, and fetchTime one that does.
const (
	gitTime   = 10 * time.Minute
	fetchTime = 30 * time.Minute
)

// harmless keeps git from running programs that a repository names: no hooks, no file monitor, no submodules.
var harmless = []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "fetch.recurseSubmodules=false", "-c", "gc.auto=0",
	"-c", "maintenance.auto=false", "-c", "core.pager=cat", "-c", "advice.detachedHead=false"}

// kept are the variables that say how git reaches a server. Others, such as GIT_DIR, could point it at another repository.
var kept = []string{"GIT_ASKPASS=", "GIT_SSH=", "GIT_SSH_COMMAND=", "GIT_SSH_VARIANT=", "GIT_SSL_", "GIT_HTTP_", "GIT_PROXY_", "GIT_EXEC_PATH="}

// errNoGit says that git is not installed.
var errNoGit = errors.New("no git")

// git is a call of git.
type git struct {
	dir string
	// alone makes git ignore the settings of the user and of the system, with their filters and templates.
	alone bool
	// protocol is the only one that it may use; empty for none.
	protocol string
	time     time.Duration
}

func (g git) environ() (env []string) {
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "GIT_") || startsWithAny(one, kept) {
			env = append(env, one)
		}
	}
	env = append(env, "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL="+g.protocol, "GIT_OPTIONAL_LOCKS=0", "GIT_LFS_SKIP_SMUDGE=1", "LC_ALL=C")
	if g.alone {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1")
	}
	return env
}

func startsWithAny(text string, list []string) bool {
	return slices.ContainsFunc(list, func(one string) bool { return strings.HasPrefix(text, one) })
}

// run calls git, and returns what it prints. The error contains git's own message.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	path, err := supervise.Look("git", "")
	if err != nil {
		return "", message.Error("git was not found", err, errNoGit)
	}
	if g.time == 0 {
		g.time = gitTime
	}
	argv := append(append([]string{path}, harmless...), args...)
	var out, said bytes.Buffer
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: path, Args: argv, Dir: g.dir, Env: g.environ(), Stdout: &limited{&out, maxOutput}, Stderr: &limited{&said, maxSaid}, Placement: supervise.OwnSession, Timeout: g.time},
		func(p *supervise.Process) { context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) }) })
	switch code := exit.ShellCode(); {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case code != 0:
		return "", message.Error(message.GitFailed(args[0], code, redact.Text(said.String())))
	}
	return out.String(), nil
}

const (
	maxOutput = 64 << 20
	maxSaid   = 16 << 10
)

// limited keeps the beginning of what is written to it, and drops the rest.
type limited struct {
	to   *bytes.Buffer
	left int
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.to.Write(p[:n])
	l.left -= n
	return len(p), nil
}
