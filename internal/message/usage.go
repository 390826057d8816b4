package message

import (
	"fmt"
	"strings"
	"time"
)

// AsIn shows an example.
func AsIn(example string) string { return "as in: " + example }

// See names the command that shows more.
func See(command string) string { return "see: " + command }

// NoServerGiven says that belay mcp was given no server.
func NoServerGiven() string { return "no server given" }

// NothingNamed says that an argument is missing: a gate, a run.
func NothingNamed(what string) string { return "no " + what + " given" }

// TooManyNamed says that there are too many arguments.
func TooManyNamed(command, what string, n int) string {
	return fmt.Sprintf("%s takes one %s, not %d", command, what, n)
}

// TakesNoArguments says that a command takes no arguments. got is the first one, if that is worth saying.
func TakesNoArguments(command, got string) string {
	text := command + " takes no arguments"
	if got != "" {
		text += fmt.Sprintf(", but got %q", got)
	}
	return text
}

// UnknownFlagHint names the flags that were probably meant.
func UnknownFlagHint(near []string, command string) string {
	see := See(command + " --help")
	if len(near) == 0 {
		return see
	}
	return "did you mean --" + strings.Join(near, ", --") + "? " + see
}

// NoSuchCommand says that there is no command of that name.
func NoSuchCommand(word string) string { return fmt.Sprintf("there is no command %q", word) }

// NoSuchCommandOf says that a command has no command of that name below it.
func NoSuchCommandOf(command, word string) string {
	return fmt.Sprintf("%s has no command %q", command, word)
}

// NoSuchTopic says that there is nothing to explain under that name.
func NoSuchTopic(word string) string { return fmt.Sprintf("there is no command or topic %q", word) }

// CommandHint says what was probably meant by a word that is not a command of belay: one that is, or a program.
func CommandHint(word string, near []string, program bool) string {
	switch {
	case word == "version":
		return DidYouMeanCommand("belay", []string{"--version"})
	case len(near) > 0 && program:
		return fmt.Sprintf("did you mean belay %s? To run the program: belay run -- %s", near[0], word)
	case program:
		return "to run it: belay run -- " + word
	case len(near) > 0:
		return DidYouMeanCommand("belay", near)
	}
	return See("belay --help")
}

// DidYouMeanCommand names the commands that were probably meant.
func DidYouMeanCommand(before string, near []string) string {
	return "did you mean: " + before + " " + or(near)
}

// CommandsAre names the commands below one.
func CommandsAre(names []string) string { return "the commands are " + and(names) }

// RunAsHook says how to run a program as a hook.
func RunAsHook(program string) string { return "to run it as a hook: belay hook -- " + program }

// FlagValue says that the value of a flag is wrong.
func FlagValue(flag, value string, err error) string {
	return fmt.Sprintf("--%s %q: %v", flag, value, err)
}

// InFlag says that the value of a flag is wrong, where that says which it is.
func InFlag(flag string, err error) string { return fmt.Sprintf("--%s: %v", flag, err) }

// Negative says that a value is negative.
func Negative() string { return "it is negative" }

// TooShort says that a duration is shorter than the shortest that is accepted.
func TooShort(value string, least time.Duration) string {
	return fmt.Sprintf("%q is less than %s", value, least)
}

// NotAToolTimeout says that a value is not the limit of a tool.
func NotAToolTimeout(value string) string {
	return fmt.Sprintf("--tool-timeout %q is not NAME=DURATION", value)
}

// NotAMessageSize says that a value is not the size of the largest message.
func NotAMessageSize(value string) string {
	return fmt.Sprintf("--max-message %q is not a number of MiB between 1 and 4096", value)
}

// ExplainWhat says that belay explain was given neither an exit code nor a signal, or both.
func ExplainWhat() string { return "give either --exit-code or --signal" }

// OneFromStdin says that two streams cannot be read from stdin.
func OneFromStdin() string { return "only one of --stdout and --stderr can be read from stdin" }

// ScriptWhich says that a rehearsal was given no script, or two.
func ScriptWhich() string { return "give either --script or --script-file" }

// ResultFileUnusable says that the result cannot be written to a file.
func ResultFileUnusable(path string, err error) string {
	return fmt.Sprintf("--result-file: cannot write %s: %v", path, err)
}

// ResultFileIsDir says that the result cannot be written because there is a directory.
func ResultFileIsDir(path string) string {
	return fmt.Sprintf("--result-file: %s is a directory", path)
}

// ResultFileNoDir says that the result cannot be written because there is no directory.
func ResultFileNoDir(dir string) string {
	return fmt.Sprintf("--result-file: directory %s does not exist", dir)
}

// ReadOnly says that a file is open for reading only.
func ReadOnly() string { return "it is open for reading only" }

// ParallelWithoutGate says that there is nothing to count commands in.
func ParallelWithoutGate() string { return "--max-parallel needs a gate" }

// AddGate says how to give a gate.
func AddGate() string { return "add: --gate NAME" }

// OnlyAgentsResume says that a command has no sessions.
func OnlyAgentsResume() string { return "only agents have sessions that can be resumed" }

// Where a prompt is read from.
const (
	PromptOnStdin = "prompt on stdin"
	PromptFile    = "prompt file"
)

// PromptTooLarge says that a prompt is larger than any that is accepted.
func PromptTooLarge(mib int) string { return fmt.Sprintf("the prompt is larger than %d MiB", mib) }

// PromptUnreadable says that a prompt cannot be read. what is [PromptFile], say.
func PromptUnreadable(what string, err error) string {
	return fmt.Sprintf("cannot read the %s: %v", what, err)
}

// PromptInterrupted says that belay was stopped while it read a prompt.
func PromptInterrupted(what string, cause error) string {
	return fmt.Sprintf("the %s was still being read (%v), so nothing was started", what, cause)
}

// PromptTimedOut says that a prompt came too slowly. timeout is "timeout" or "total timeout".
func PromptTimedOut(what, timeout string, limit time.Duration) string {
	return fmt.Sprintf("the %s did not end within the %s (%s), so nothing was started", what, timeout, seconds(limit))
}

// NoEffect says that a flag has no effect on this command.
func NoEffect(flag, why string) string { return fmt.Sprintf("%s has no effect here: %s", flag, why) }

// NoEffectWithout is why a flag has no effect that needs another one.
func NoEffectWithout(flag string) string { return "there is no --" + flag }

// NoEffectPrompt is why --no-stdin has no effect.
func NoEffectPrompt() string { return "the command reads the prompt from stdin" }

// NoEffectExcept is why a flag has no effect that is for other commands.
func NoEffectExcept(names []string) string { return "it applies only to " + or(names) }

// NoEffectSessions is why a flag of sessions has no effect.
func NoEffectSessions() string { return "only agents have sessions" }

// TooFewFiles says that the limit on open files is too low.
func TooFewFiles(limit, needed uint64) string {
	return fmt.Sprintf("only %d open files are allowed here, and belay needs %d. To raise the limit: ulimit -n 1024", limit, needed)
}

// CompanionMissing says that a command needs belayd, which is not there.
func CompanionMissing(command, companion string) string {
	return fmt.Sprintf("belay %s needs %s, which is not next to belay or on the PATH", command, companion)
}

// GetBoth says how to install belay and belayd.
func GetBoth(command string) string { return "to install both: " + command }

// CannotStart says that a program cannot be started.
func CannotStart(path string, err error) string { return fmt.Sprintf("cannot start %s: %v", path, err) }

// TerminalLost says that the screen cannot be drawn.
func TerminalLost(err error) string { return fmt.Sprintf("cannot use the terminal: %v", err) }

// NothingSet says that there are no settings but the defaults.
func NothingSet() string { return "nothing is set; defaults apply" }

// StateIs says where the state directory is.
func StateIs(dir string) string { return "state directory: " + dir }

// SettingsFile says where a file of settings is, and whether it was read.
func SettingsFile(path, state string) string { return fmt.Sprintf("file: %s (%s)", path, state) }

// Ignored says what has no effect.
func Ignored(text string) string { return "ignored: " + text }

// NotRead says what is not read.
func NotRead(text string) string { return "not read: " + text }

// HoldsAfterThrottle says how long a gate holds after a limit that names no time.
func HoldsAfterThrottle(holds string) string { return holds + ", after a limit that names no time" }

// OddScript says that cobra's completion script is not what it used to be.
func OddScript(shell string) string {
	return fmt.Sprintf("cobra's script for %s has changed; please report this", shell)
}
