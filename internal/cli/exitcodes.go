package cli

import (
	"strconv"

	"github.com/belay-run/belay/internal/engine"
)

// ExitMeaning says what an exit code means.
type ExitMeaning struct{ Code, Meaning string }

// ExitCodes are the exit codes of belay run as help and documentation explain them.
func ExitCodes() []ExitMeaning {
	return []ExitMeaning{
		{"the command's", "on success, and always when the command ended by itself; death by signal n is 128+n, and a 0 that is not true (see --fail-on) is 1"},
		{strconv.Itoa(engine.CodeUsage), "wrong use of belay; nothing was started"},
		{strconv.Itoa(engine.CodeTryLater), "try later: a limit, retries used up, or a gate, scope or budget that is closed. A plain command whose retries are used up keeps its own code, and so does every command with --max-retries 0"},
		{strconv.Itoa(engine.CodePersonMustAct), "credentials or billing: a person must act. The same commands keep their own code"},
		{strconv.Itoa(engine.CodeTimeout), "--timeout, --total-timeout or --stall-timeout"},
		{strconv.Itoa(engine.CodeFailed), "belay itself failed"},
		{strconv.Itoa(engine.CodeNotExecutable) + ", " + strconv.Itoa(engine.CodeNotFound), "the command is not executable, was not found"},
		{"130, 143", "interrupted, terminated"},
	}
}
