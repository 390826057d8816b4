package agent

import (
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Caller is the profile of a CLI that calls a service for its user, a few requests at most, and says little about it:
// gh. It is started with settings that make it say more; what it says then is read, and taken out again before the user
// sees it.
type Caller interface {
	Profile
	// CallerInfo say how this command line is to be treated.
	CallerInfo() CallerInfo
	// Listen returns what reads one attempt.
	Listen() Listener
}

// CallerInfo say how one command line of a caller is to be treated.
type CallerInfo struct {
	// Gate is the key of the limits that the call falls under. Never a credential.
	Gate string
	// Provider names the service that it calls, in one word.
	Provider string
	// Deadline is how long it may take where it is known to be one or two short requests; 0 if it may take long.
	Deadline time.Duration
	// Changes says that it may change something on the other side, so that a failure that leaves open whether it has is
	// not simply repeated. What is not understood may.
	Changes bool
	// Verify finds out whether it has, after an attempt that began at the given time and left that open. An error says that it could not find
	// out. Nil if there is no way.
	Verify func(ctx context.Context, since time.Time, ask Ask) (Effect, error)
	// CheckLimit asks when a limit ends that an attempt has run into without being told; the zero Hint if none is used up. It is called once in an
	// invocation, never in a loop. Nil if the service cannot be asked.
	CheckLimit func(ctx context.Context, ask Ask) (verdict.Hint, error)
	// Tested are the versions that the profile is tested with.
	Tested Tested
}

// Ask runs the same CLI with other arguments, which change nothing.
type Ask = func(ctx context.Context, args ...string) ([]byte, error)

// Listener reads one attempt of a caller.
type Listener interface {
	// Env are settings in addition to the caller's environment.
	Env() []string
	// Stderr takes what the command writes there and passes on to user what is the user's. Close passes on the rest.
	Stderr(user io.Writer) io.WriteCloser
	// Version is the version of the CLI, as far as it has told.
	Version() string
	// Requests is how many requests the attempt has made, as far as the command has told.
	Requests() int
	// Judge says what the outcome means; its Stderr is what the user sees. Verdict.Sent says whether there may have been
	// an effect.
	Judge(o verdict.Outcome, now time.Time) verdict.Verdict
}

// Effect is what became of something that a command was to do.
type Effect struct {
	// Done says that it has been done, and Output what the command would have printed then. Not done means surely not.
	Done   bool
	Output string
}

// Getenv is the value of a variable in an environment as [os.Environ] returns it; empty if it is not set. Of several values
// the last one counts, as for os/exec. A nil environment is empty, not that of this process.
func Getenv(env []string, name string) string {
	for _, variable := range slices.Backward(env) {
		if value, ok := valueOf(variable, name, runtime.GOOS == "windows"); ok {
			return value
		}
	}
	return ""
}

// HomeDir is the home directory that an environment names; empty if it names none. On Windows that is USERPROFILE, also where a
// shell that comes from Unix has set HOME.
func HomeDir(env []string) string {
	if runtime.GOOS == "windows" {
		if dir := Getenv(env, "USERPROFILE"); dir != "" {
			return dir
		}
	}
	return Getenv(env, "HOME")
}

// valueOf is the value in name=value. Windows does not distinguish PATH from Path.
func valueOf(variable, name string, foldCase bool) (value string, ok bool) {
	if n := len(name); len(variable) > n && variable[n] == '=' && (variable[:n] == name || foldCase && strings.EqualFold(variable[:n], name)) {
		return variable[n+1:], true
	}
	return "", false
}
