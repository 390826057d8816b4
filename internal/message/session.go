package message

import (
	"fmt"
	"time"
)

// SessionGone says that a session is not there any more, and that a new one is begun.
func SessionGone(id string) string {
	return fmt.Sprintf("there is no session %s any more; beginning a new one", id)
}

// NoSession says that there is no last session. begin says whether to say how to begin one.
func NoSession(profile string, begin bool) string {
	text := fmt.Sprintf("there is no session of %s on record for this directory", profile)
	if begin {
		text += "; leave --resume out to begin one"
	}
	return text
}

// ResumeOrNew says how to begin a new session where there is none.
func ResumeOrNew(id string) string {
	return "to begin a new session where there is none: --resume-or-new " + id
}

// Continue says how to go on with a session. how is the command that does.
func Continue(id, how string) string {
	return fmt.Sprintf("to go on: belay run --resume %s -- %s", id, how)
}

// NotASession says that a text is no id of a session.
func NotASession(id, example, last string) string {
	return fmt.Sprintf("%q is no session id; it looks like %s, or is %q", id, example, last)
}

// StdinTimeout says that stdin did not end in time. flag is what says that there is none; empty where there are no flags.
func StdinTimeout(command string, limit time.Duration, flag string) string {
	text := fmt.Sprintf("stdin did not end within the timeout (%s), so %s was not started", seconds(limit), command)
	if flag != "" {
		text += "; if there is none, say " + flag
	}
	return text
}

// StdinTooLarge says that there is more on stdin than the command takes.
func StdinTooLarge(command string, limit int64) string {
	return fmt.Sprintf("stdin has more than the %d bytes that %s takes; put the text in a file and name that in the prompt", limit, command)
}

// InputRead says that a command cannot be repeated because its input is gone. flag is what keeps it; empty where there are no
// flags.
func InputRead(command, flag string) string {
	text := fmt.Sprintf("%s has read its standard input and cannot be repeated", command)
	if flag != "" {
		text += fmt.Sprintf("; use %s to keep it", flag)
	}
	return text
}

// TooLong says how to pass a text that is too long for a command line. all says that it is not one argument but all of them.
func TooLong(err error, all bool) string {
	what := "it"
	if all {
		what = "the text"
	}
	return fmt.Sprintf("%v; pass %s by --prompt-file, --prompt - or in a file", err, what)
}

// ArgumentsTooLong says that the system does not take so many arguments.
func ArgumentsTooLong() string { return "arguments and environment are too long for this system" }
