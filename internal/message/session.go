package message

import (
	"fmt"
	"time"
)

// SessionGone says that a session does not exist any more, and that a new one is started.
func SessionGone(id string) string {
	return fmt.Sprintf("session %s no longer exists; starting a new one", id)
}

// NoSession says that there is no last session. begin says whether to say how to start one.
func NoSession(profile string, begin bool) string {
	text := fmt.Sprintf("no session of %s is on record for this directory", profile)
	if begin {
		text = sentences(text, "to start one, leave out --resume")
	}
	return text
}

// InterruptedNeedsID refuses --resume-interrupted last.
func InterruptedNeedsID() string { return "--resume-interrupted needs the id of a session" }

// ResumeOrNew says how to start a new session where there is none.
func ResumeOrNew(id string) string {
	return "to start a new session if there is none: --resume-or-new " + id
}

// Continue says how to continue a session. how is the command that does.
func Continue(id, how string) string {
	return "continue with: " + ResumeCommand(id, how)
}

// NotASession says that a text is not the id of a session.
func NotASession(id, example, last string) string {
	return fmt.Sprintf("%q is not a session id. It looks like %s, or is %q", id, example, last)
}

// StdinTimeout says that stdin did not end in time. flag is what says that there is none; empty for a caller without flags.
func StdinTimeout(command string, limit time.Duration, flag string) string {
	text := fmt.Sprintf("stdin did not end within the timeout (%s), so %s was not started", seconds(limit), command)
	if flag != "" {
		text = sentences(text, "if there is no input, use "+flag)
	}
	return text
}

// StdinUnreadable says that stdin could not be read.
func StdinUnreadable() string { return "cannot read stdin" }

// StdinTooLarge says that there is more on stdin than the command takes.
func StdinTooLarge(command string, limit int64) string {
	return fmt.Sprintf("stdin has more than the %d bytes that %s accepts. Put the text in a file and name that file in the prompt", limit, command)
}

// InputRead says that a command cannot be repeated because its input is gone. flag is what keeps it; empty for a caller without flags.
func InputRead(command, flag string) string {
	text := fmt.Sprintf("stdin has been read, so %s cannot be repeated", command)
	if flag != "" {
		text = sentences(text, "to keep the input for retries, use "+flag)
	}
	return text
}

// TooLong says how to pass a text that is too long for a command line. all says that it is not one argument but all of them.
func TooLong(err error, all bool) string {
	what := "it"
	if all {
		what = "the text"
	}
	return sentences(err.Error(), fmt.Sprintf("pass %s with --prompt-file, --prompt - or in a file", what))
}

// ArgumentsTooLong says that the system does not take so many arguments.
func ArgumentsTooLong() string { return "arguments and environment are too long for this system" }

// NoCommand says that there is no command.
func NoCommand() string { return "no command given" }

// NULInArgument says that an argument cannot be passed.
func NULInArgument() string { return "an argument contains a NUL byte" }

// NoDir says that the working directory does not exist.
func NoDir(dir string) string { return fmt.Sprintf("working directory %s does not exist", dir) }

// UnusableDir says that the working directory cannot be used.
func UnusableDir(dir string) string { return fmt.Sprintf("working directory %s cannot be used", dir) }

// NotADir says that the working directory is something else.
func NotADir(dir string) string { return fmt.Sprintf("working directory %s is not a directory", dir) }

// ResumeCommand is the command that continues a session. how is the command of the agent.
func ResumeCommand(id, how string) string { return fmt.Sprintf("belay run --resume %s -- %s", id, how) }
