package message

import "fmt"

// ClientMissing says that --client is missing.
func ClientMissing() string { return "--client is missing" }

// NoClient says that there is no client of that name.
func NoClient(name string) string { return fmt.Sprintf("there is no client %q", name) }

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

// ScopesOfClients says which scopes there are.
func ScopesOfClients() string {
	return "use --scope user, --scope project or, for claude, --scope local"
}

// NoHooksToWrap says that there is no file with hooks.
func NoHooksToWrap(path string) string {
	return fmt.Sprintf("No hooks to put belay in front of: %s does not exist.", path)
}

// EntrySkipped says that a hook stays as it is, because it "is in config.toml".
func EntrySkipped(path string, line int, why string) string {
	return fmt.Sprintf("%s:%d: not changed because it %s", path, line, why)
}

// EntryByHand says that a hook or a server stays as it is, because belay was put there by hand.
func EntryByHand(path string, line int) string {
	return fmt.Sprintf("%s:%d: not changed because belay was put there by hand", path, line)
}

// HooksAllBehind says that there is nothing to install.
func HooksAllBehind(path string, hooks, behind int) string {
	return fmt.Sprintf("Nothing to do in %s: %s, %d already behind belay.", path, count(hooks, "hook"), behind)
}

// HooksWrapped says that belay is in front of hooks. original is where the file is as it was.
func HooksWrapped(hooks int, path, original string) string {
	return fmt.Sprintf("belay is now in front of %s in %s. The original is in %s.", count(hooks, "hook"), path, original)
}

// ClientNote says what the user has to know of a client after a change.
func ClientNote(text string) string { return "Note: " + text + "." }

// NothingToUndo says that there is no file to change, or nothing in it.
func NothingToUndo(path string, missing bool) string {
	if missing {
		return fmt.Sprintf("Nothing to undo: %s does not exist.", path)
	}
	return fmt.Sprintf("Nothing to undo in %s.", path)
}

// HooksUnwrapped says that belay is out of hooks again.
func HooksUnwrapped(hooks int, path string) string {
	return fmt.Sprintf("belay is no longer in front of %s in %s.", count(hooks, "hook"), path)
}

// FileUnchanged says that a file was not changed.
func FileUnchanged() string { return "the file was not changed" }

// FileUnchangedBecause says why a file was not changed.
func FileUnchangedBecause(path string, err error) string {
	return fmt.Sprintf("%s was not changed: %v", path, err)
}

// CannotChange says that a file cannot be changed.
func CannotChange(path string, err error) string {
	return fmt.Sprintf("cannot change %s: %v", path, err)
}

// HooksOnWindows says that hooks are no lines that belay can change.
func HooksOnWindows() string {
	return "on Windows, hooks are PowerShell or cmd commands, which belay does not rewrite"
}

// HooksInFish says that hooks are lines for fish.
func HooksInFish(client string) string {
	return client + " runs hooks with your shell, fish, and belay cannot quote for fish"
}

// HookByHand says how to put belay in front of a hook.
func HookByHand() string { return "put 'belay hook --' in front of a command by hand" }

// HooksElsewhere says that a client has hooks in a file that belay does not change.
func HooksElsewhere(path string, hooks int, to string) string {
	return sentences(fmt.Sprintf("%s also has %s, which belay does not change", path, count(hooks, "hook")),
		fmt.Sprintf("move them to %s, or put 'belay hook --' in front of them by hand.", to))
}

// HooksUncounted says that a file with hooks cannot be read.
func HooksUncounted() string { return "its hooks could not be counted" }

// NoHooks says that there are no hooks to list.
func NoHooks() string { return "No hooks." }

// LookedIn stands before the files that were read.
func LookedIn() string { return "Looked in:" }

// LookedAt says what was found in a file: "2 hooks".
func LookedAt(path, client, scope, found string) string {
	return fmt.Sprintf("  %s (%s, %s): %s", path, client, scope, found)
}

// LookUnreadable says in a few words that a file cannot be read.
func LookUnreadable() string { return "cannot be read" }

// Repointed says that hooks or servers called another belay before.
func Repointed(n int, what, belay string) string {
	return fmt.Sprintf("%s called a belay that no longer exists and now %s %s.", count(n, what), verb(n, "calls", "call"), belay)
}

// SharedFile says what a change of a file means to those who share it.
func SharedFile() string {
	return "Note: everyone who works on this project now needs belay on the PATH. To change only your own settings, use --scope user or local."
}

// NotOnPath says that the user does not have what all others need.
func NotOnPath() string { return "Warning: belay is not on your own PATH." }

// CommentInFile says that a client does not read a file because of a comment. what are "settings" or "servers".
func CommentInFile(path, at, client, what string) string {
	return fmt.Sprintf("Warning: %s has a comment at %s; %s does not read %s from a file with comments.", path, at, client, what)
}

// Entries are the hooks or servers of a file.
type Entries struct {
	N                         int
	What, Client, Scope, Path string // What is "hook" or "server"
}

func (e Entries) String() string {
	return fmt.Sprintf("%s in the %s scope (%s)", count(e.N, e.What), e.Scope, e.Path)
}

// BelayGone says that hooks or servers call a belay that is not there. install says whether another installation repairs that.
func BelayGone(e Entries, belay, command string, onPath, install bool) string {
	why := "no longer exists"
	if onPath {
		why = "is not on the PATH"
	}
	repair := "Put it there, for example with a link."
	if install {
		repair = fmt.Sprintf("To repair it: belay %s install --client %s --scope %s", command, e.Client, e.Scope)
	}
	return fmt.Sprintf("Warning: %s %s %s, which %s. %s", e, verb(e.N, "calls", "call"), belay, why, repair)
}

// NoServers says that there are no MCP servers in a scope.
func NoServers(scope, path string, missing bool) string {
	if missing {
		path += " does not exist"
	}
	return fmt.Sprintf("no MCP servers in the %s scope (%s)", scope, path)
}

// ServersAre stands before the servers of a file.
func ServersAre(e Entries) string { return e.String() + ":" }

// NoServersToChange says that a client has no file with servers.
func NoServersToChange(client, scope, path string) string {
	return fmt.Sprintf("%s has no servers in the %s scope: %s does not exist.", client, scope, path)
}

// ServerWrapped says that belay is in front of a server, or no longer.
func ServerWrapped(name string, wrapped bool) string {
	if wrapped {
		return name + " is now behind belay"
	}
	return name + " is started directly again"
}

// ServerCalled says that belay is no longer in front of a server that is called over the network.
func ServerCalled(name string) string { return name + " is called directly again" }

// ServerSkipped says that a server stays as it is, because it "needs oauth, which only the client can do".
func ServerSkipped(name, why string) string {
	return fmt.Sprintf("%s is not changed because it %s", name, why)
}

// ServerDoubted says that a server stays as it is unless it is named, because it "may need a login".
func ServerDoubted(name, why, client, scope string) string {
	return fmt.Sprintf("%s. If it needs none: belay mcp install --client %s --scope %s %s", ServerSkipped(name, why), client, scope, name)
}

// NoServerChange says that there is nothing to change.
func NoServerChange(scope, path string) string {
	return fmt.Sprintf("nothing to change in the %s scope (%s)", scope, path)
}

// ServersChanged says that a configuration was changed. original, if not empty, is where it is as it was.
func ServersChanged(path, original string) string {
	text := fmt.Sprintf("Changed %s.", path)
	if original != "" {
		text += fmt.Sprintf(" The original is in %s.", original)
	}
	return text
}

// RestartClient says that a client has to read its configuration again.
func RestartClient(client string) string {
	return fmt.Sprintf("Note: restart %s to apply the change.", client)
}

// NoServerIn says that a file has no server of that name.
func NoServerIn(none error, path string) string { return fmt.Sprintf("%v in %s", none, path) }

// NoServer says that there is no server of that name.
func NoServer(name string) string { return fmt.Sprintf("there is no server %q", name) }

// ServersHint names the server that was probably meant, or those that there are.
func ServersHint(near string, known []string) string {
	switch {
	case near != "":
		return DidYouMeanOne(near)
	case len(known) == 0:
		return "the file has none"
	}
	return "the servers are " + and(known)
}

// NotUnderstood says that a configuration is not what it should be.
func NotUnderstood(path string, err error) string {
	return fmt.Sprintf("%s cannot be understood: %v", path, err)
}

// ClientUnreadable says that the configuration of a client cannot be read.
func ClientUnreadable(client string, err error) string {
	return fmt.Sprintf("cannot read the configuration of %s: %v", client, err)
}

// ServersElsewhere says that there are servers in another scope too. behind says that these are behind belay, command what would change
// that.
func ServersElsewhere(e Entries, behind bool, command string) string {
	not := "not "
	if behind {
		not = ""
	}
	return fmt.Sprintf("Note: %s %s %sbehind belay. To change that: belay mcp %s --client %s --scope %s",
		e, verb(e.N, "is", "are"), not, command, e.Client, e.Scope)
}

// UninstallHow says that belay uninstall-all was not told what to do.
func UninstallHow() string { return "say what to do" }

// UninstallHint says how to tell it.
func UninstallHint() string { return "--dry-run shows what would change, --yes changes it" }

// Unwrapped says that belay was removed from hooks or servers.
func Unwrapped(n int, what, path string) string {
	return fmt.Sprintf("Removed belay from %s in %s.", count(n, what), path)
}

// NothingInstalled says that belay is in no file of a client.
func NothingInstalled() string {
	return "Belay is not in any of your clients' files or in those of this directory."
}

// OtherProjects says that belay may be in further files.
func OtherProjects() string {
	return "Belay does not know the files of other projects. Run this there too."
}

// RecordsStay says what is left after belay was removed from all files.
func RecordsStay(dir string) string {
	return fmt.Sprintf("The log and other records are in %s. Remove that directory if you no longer need them.", dir)
}
