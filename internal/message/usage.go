package message

import (
	"fmt"
)

// AsIn shows an example.
func AsIn(example string) string { return "as in: " + example }

// See names the command that shows more.
func See(command string) string { return "see: " + command }

// TakesNoArguments says that a command takes no arguments. got is the first one, if that is worth saying.
func TakesNoArguments(command, got string) string {
	text := command + " takes no arguments"
	if got != "" {
		text += fmt.Sprintf(", but got %q", got)
	}
	return text
}

// NoSuchCommand says that there is no command of that name.
func NoSuchCommand(word string) string { return fmt.Sprintf("there is no command %q", word) }

// DidYouMeanCommand names the commands that were probably meant.
func DidYouMeanCommand(before string, near []string) string {
	return "did you mean: " + before + " " + or(near)
}

// InFlag says that the value of a flag is wrong, where that says which it is.
func InFlag(flag string, err error) string { return fmt.Sprintf("--%s: %v", flag, err) }

// Where a prompt is read from.
const (
	PromptOnStdin = "prompt on stdin"
	PromptFile    = "prompt file"
)

// PromptUnreadable says that a prompt cannot be read. what is [PromptFile], say.
func PromptUnreadable(what string, err error) string {
	return fmt.Sprintf("cannot read the %s: %v", what, err)
}

// NoEffectWithout is why a flag has no effect that needs another one.
func NoEffectWithout(flag string) string { return "there is no --" + flag }

// NoEffectExcept is why a flag has no effect that is for other commands.
func NoEffectExcept(names []string) string { return "it applies only to " + or(names) }

// OtherModel says that an agent worked with another model than the one that was asked for.
func OtherModel(name, asked, used string) string {
	return name + " used " + used + " instead of " + asked
}

// ModelUntold says why no model can be required of a command.
func ModelUntold(name string) string { return name + " does not tell which model it uses" }

// Untold says why something that a command does cannot be limited: its tool calls, its sub-agents.
func Untold(name, what string) string { return name + " does not tell of its " + what }

// NoEffectSessions is why a flag of sessions has no effect.
func NoEffectSessions() string { return "only agents have sessions" }

// CannotStart says that a program cannot be started.
func CannotStart(path string, err error) string { return fmt.Sprintf("cannot start %s: %v", path, err) }
