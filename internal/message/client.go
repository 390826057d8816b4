package message

import "fmt"

// ClientHint names the clients that there are.
func ClientHint(names []string) string {
	for i, name := range names {
		names[i] = "--client " + name
	}
	return AsIn(or(names))
}

// NoClientScope says that a client has no such scope.
func NoClientScope(client, scope string) string {
	return fmt.Sprintf("%s has no scope %q", client, scope)
}

// EntryByHand says that a hook or a server stays as it is, because belay was put there by hand.
func EntryByHand(path string, line int) string {
	return fmt.Sprintf("%s:%d: not changed because belay was put there by hand", path, line)
}

// ClientNote says what the user has to know of a client after a change.
func ClientNote(text string) string { return "Note: " + text + "." }

// FileUnchangedBecause says why a file was not changed.
func FileUnchangedBecause(path string, err error) string {
	return fmt.Sprintf("%s was not changed: %v", path, err)
}

// HookByHand says how to put belay in front of a hook.
func HookByHand() string { return "put 'belay hook --' in front of a command by hand" }

// ServersHint names the server that was probably meant, or those that there are.
func ServersHint(near string, known []string) string {
	switch {
	case near != "":
		return DidYouMeanOne(near)
	case len(known) == 0:
		return "the file has none"
	}
	return "the servers are " + And(known)
}

// NotUnderstood says that a configuration is not what it should be.
func NotUnderstood(path string, err error) string {
	return fmt.Sprintf("%s cannot be understood: %v", path, err)
}

// Expected says what should stand at a place, and what does.
func Expected(what, found string) string { return fmt.Sprintf("expected %s, found %s", what, found) }

// What is expected in JSON.
const (
	AKey   = "a key in double quotes"
	AColon = "a colon"
	AValue = "a value"
)

// Unterminated says that a string or a comment has no end.
func Unterminated(what string) string { return "unterminated " + what }

// MustBeObject says that the settings, hooks or servers of a client are not an object.
func MustBeObject(what string) string { return what + " must be an object" }

// MustBeHookList says that hooks are not a list. inner says that it is those of a matcher.
func MustBeHookList(event string, inner bool) string {
	if inner {
		return fmt.Sprintf("the hooks of hooks.%s must be a list", event)
	}
	return fmt.Sprintf("hooks.%s must be a list", event)
}

// EntryBadArgs is why a hook or a server is not changed.
func EntryBadArgs() string { return "has args that are not a list" }

// EntryRemote is why a server is not changed.
func EntryRemote() string { return "has neither a command nor a URL that belay knows" }

// EntryUnknownType is why a server with a URL is not changed.
func EntryUnknownType(kind string) string {
	if kind == "" {
		return "has a URL but no type"
	}
	return fmt.Sprintf("is a server of type %q, which belay cannot call", kind)
}

// EntryWritten is why a server with a URL is not changed.
func EntryWritten() string { return "is written in a way that belay could not restore" }

// EntryURLSecret is why a server is not changed.
func EntryURLSecret() string {
	return "has what may be a secret in its URL, and others can see a command line"
}

// WouldSpoil says that a change was not made because it would not be right.
func WouldSpoil(err error) string { return fmt.Sprintf("belay would have damaged it: %v", err) }
