package message

import "fmt"

// MayBeDone says that something was not repeated because it may have been done.
func MayBeDone() string { return "it may have been done, so it was not repeated" }

// EffectUnknown says that it is not known whether a command has had its effect. verifiable says that there is a way to find
// out, err why that has failed, and flags whether to name the flags that help.
func EffectUnknown(verifiable bool, err error, flags bool) string {
	switch {
	case err != nil && flags:
		return fmt.Sprintf("%s, and --verify-effect could not find out (%v): check first, or use --retry-unsafe", MayBeDone(), err)
	case err != nil:
		return fmt.Sprintf("%s, and whether it was could not be found out (%v): check first", MayBeDone(), err)
	case verifiable && flags:
		return MayBeDone() + ": check first, or use --verify-effect or --retry-unsafe"
	case flags:
		return MayBeDone() + ": check first, or use --retry-unsafe"
	}
	return MayBeDone() + ": check first"
}

// FoundDone says that a command has failed and has had its effect all the same.
func FoundDone(name, output string) string {
	return fmt.Sprintf("%s failed, but what it was to do has been done: %s", name, output)
}

// NoAnswer says that a question about what a command has done was not answered.
func NoAnswer(name, what string) string { return fmt.Sprintf("%s %s did not answer", name, what) }
