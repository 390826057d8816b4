package message

import "fmt"

// MayBeDone says that a command was not repeated because it may have had its effect.
func MayBeDone() string { return "the change may already have been made, so it was not repeated" }

// EffectUnknown says that it is not known whether a command has had its effect. verifiable says that there is a way to find out, err why
// that has failed, and flags whether to name the flags that help.
func EffectUnknown(verifiable bool, err error, flags bool) string {
	text, advice := MayBeDone(), "check first"
	switch {
	case err != nil && flags:
		text = fmt.Sprintf("%s, and --verify-effect failed: %v", text, err)
	case err != nil:
		text = fmt.Sprintf("%s, and a check failed: %v", text, err)
	}
	switch {
	case flags && verifiable && err == nil:
		advice += ", or use --verify-effect or --retry-unsafe"
	case flags:
		advice += ", or use --retry-unsafe"
	}
	return Sentences(text, advice)
}
