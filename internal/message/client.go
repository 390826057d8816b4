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
