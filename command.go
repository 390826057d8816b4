package belay

import "io"

// Command is what to run.
type Command struct {
	// Args is the command and its arguments. There is no shell.
	Args []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's. Belay's own settings (BELAY_*) are taken out of it.
	Env []string

	// Stdin is what the command reads; nil means nothing. A file is handed over as it is where that is possible.
	Stdin io.Reader
	// Prompt, if not nil, is given to every attempt: an agent is asked it, any other command reads it from stdin. The log
	// has its hash, never the text.
	Prompt *string

	// Stdout and Stderr take the output of the attempt that counts. A nil Stdout keeps it in Result.Output; a nil
	// Stderr drops it.
	Stdout, Stderr io.Writer

	// Terminal lets the command use the terminal that the caller runs on, as a shell would. It is for programs that own
	// their process; they pass on with [Invocation.Interrupt] that the user has pressed Ctrl-C.
	Terminal bool
}
