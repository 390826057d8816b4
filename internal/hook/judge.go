package hook

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// failure is why a command has not decided anything.
type failure struct {
	class  verdict.Class
	text   string
	code   int // its exit code, if it had one
	signal syscall.Signal
}

func failed(text string) *failure { return &failure{class: verdict.Unknown, text: text} }

// missing is the failure of a command that could not be started.
func missing(err error) *failure {
	code := 126
	if errors.Is(err, os.ErrNotExist) {
		code = 127
	}
	return &failure{class: verdict.ToolMissing, text: "could not be started: " + err.Error(), code: code}
}

// judge says whether the command has decided on purpose; a nil failure means that it has. decided says that it has failed
// and has decided all the same: claude obeys a JSON object whatever the exit code is, and a "deny" must not get lost
// because of what came after it.
func judge(exit supervise.Exit, timeout time.Duration, out *held) (f *failure, decided bool) {
	f = &failure{class: verdict.Unknown, code: exit.Code, signal: exit.Signal}
	switch {
	case exit.Reason == supervise.Deadline:
		f.class, f.text = verdict.Timeout, fmt.Sprintf("exceeded its timeout (%s) and was terminated", message.Seconds(timeout))
		return f, false
	case exit.Reason != supervise.Exited:
		f.class, f.text = verdict.Interrupted, "was interrupted"
		return f, false
	case exit.Signal == 0 && exit.Code == Block: // whatever it has printed
		return nil, true
	case out.err != nil:
		f.text = fmt.Sprintf("printed output that could not be held: %v", out.err)
		return f, false
	case exit.Signal != 0:
		f.class, f.text = verdict.Crash, "was killed by "+signalName(exit.Signal)
	case exit.Code == 127:
		f.class, f.text = verdict.ToolMissing, "exited 127: command not found"
	case exit.Code == 126:
		f.class, f.text = verdict.ToolMissing, "exited 126: command not executable"
	case exit.Code > 128 && exit.Code < 128+65:
		f.class, f.text = verdict.Crash, fmt.Sprintf("exited %d: a command in it was killed by %s", exit.Code, signalName(syscall.Signal(exit.Code-128)))
	case exit.Code != GoOn:
		f.text = fmt.Sprintf("exited %d", exit.Code)
	default:
		if err := out.check(); err != nil {
			f.class, f.text = verdict.BadOutput, err.Error()
			return f, false
		}
		return nil, true
	}
	return f, out.isObject()
}
