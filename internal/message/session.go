package message

import (
	"fmt"
	"time"
)

// NoSession says that there is no last session. begin says whether to say how to start one.
func NoSession(profile string, begin bool) string {
	text := fmt.Sprintf("no session of %s is on record for this directory", profile)
	if begin {
		text = Sentences(text, "to start one, leave out --resume")
	}
	return text
}

// Continue says how to continue a session. how is the command that does.
func Continue(id, how string) string {
	return "continue with: " + ResumeCommand(id, how)
}

// StdinTimeout says that stdin did not end in time. flag is what says that there is none; empty for a caller without flags.
func StdinTimeout(command string, limit time.Duration, flag string) string {
	text := fmt.Sprintf("stdin did not end within the timeout (%s), so %s was not started", Seconds(limit), command)
	if flag != "" {
		text = Sentences(text, "if there is no input, use "+flag)
	}
	return text
}

// InputRead says that a command cannot be repeated because its input is gone. flag is what keeps it; empty for a caller without flags.
func InputRead(command, flag string) string {
	text := fmt.Sprintf("stdin has been read, so %s cannot be repeated", command)
	if flag != "" {
		text = Sentences(text, "to keep the input for retries, use "+flag)
	}
	return text
}

// TooLong says how to pass a text that is too long for a command line. all says that it is not one argument but all of them.
func TooLong(err error, all bool) string {
	what := "it"
	if all {
		what = "the text"
	}
	return Sentences(err.Error(), fmt.Sprintf("pass %s with --prompt-file, --prompt - or in a file", what))
}

// NoCommand says that there is no command.
func NoCommand() string { return "no command given" }

// ResumeCommand is the command that continues a session. how is the command of the agent.
func ResumeCommand(id, how string) string { return fmt.Sprintf("belay run --resume %s -- %s", id, how) }
