package message

import "fmt"

// AtPosition says where in a file something is wrong.
func AtPosition(line, column int, what string) string {
	return fmt.Sprintf("line %d, column %d: %s", line, column, what)
}

// Position is a place in a file.
func Position(line, column int) string { return fmt.Sprintf("line %d, column %d", line, column) }

// Expected says what should stand at a place, and what does.
func Expected(what, found string) string { return fmt.Sprintf("expected %s, found %s", what, found) }

// What is expected in JSON.
const (
	AKey   = "a key in double quotes"
	AColon = "a colon"
	AValue = "a value"
)

// CommaOr is what is expected in a list or an object that ends with this character.
func CommaOr(end byte) string { return fmt.Sprintf("a comma or %q", end) }

// EndOfFile is what is found at the end of a file.
func EndOfFile() string { return "the end of the file" }

// AfterEnd says that a file goes on after its end.
func AfterEnd(found string) string { return fmt.Sprintf("unexpected %s after the end", found) }

// Unterminated says that a string or a comment has no end.
func Unterminated(what string) string { return "unterminated " + what }

// TooDeep says that a file is nested too deeply.
func TooDeep() string { return "nested too deeply" }

// RawInString says that a string has a character that must be escaped.
func RawInString(found string) string {
	return fmt.Sprintf("a string must not contain an unescaped %s", found)
}

// NoSuchEscape says that an escape is unknown.
func NoSuchEscape() string { return "invalid escape" }

// InvalidJSON says that a word is not JSON.
func InvalidJSON(word string) string { return fmt.Sprintf("%q is not valid JSON", word) }

// MustBeObject says that the settings, hooks or servers of a client are not an object.
func MustBeObject(what string) string { return what + " must be an object" }

// MustBeHookList says that hooks are not a list. inner says that it is those of a matcher.
func MustBeHookList(event string, inner bool) string {
	if inner {
		return fmt.Sprintf("the hooks of hooks.%s must be a list", event)
	}
	return fmt.Sprintf("hooks.%s must be a list", event)
}

// TOMLTextLost says that belay does not find the text of a value.
func TOMLTextLost() string { return "belay cannot find the start of this value" }

// TOMLEndLost says that belay does not find the end of a value.
func TOMLEndLost() string { return "belay cannot find the end of this list or table" }

// EntryInTOML is why a hook is not changed.
func EntryInTOML() string { return "is in config.toml, which belay does not change" }

// EntryNotACommand is why a hook is not changed.
func EntryNotACommand(kind string) string {
	return fmt.Sprintf("is a hook of type %q, which runs no command", kind)
}

// EntryWithoutCommand is why a hook is not changed.
func EntryWithoutCommand() string { return "has no command" }

// EntryPowerShell is why a hook is not changed.
func EntryPowerShell() string { return "is a PowerShell command" }

// EntryCompound is why a hook is not changed.
func EntryCompound() string { return "is more than one command, or a command of the shell itself" }

// EntryCommandLine is why a server is not changed.
func EntryCommandLine() string { return "has its arguments in the command" }

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

// EntryOwn is why a server with a URL is not changed: it has a key for what only the client can do.
func EntryOwn(key string) string { return fmt.Sprintf("needs %s, which only the client can do", key) }

// EntryMixed is why a server with a URL is not changed: it also has a key of a server that is started.
func EntryMixed(key string) string { return fmt.Sprintf("has both a URL and %s", key) }

// EntryBoth is why a server with a URL is not changed.
func EntryBoth(one, other string) string { return fmt.Sprintf("has both %s and %s", one, other) }

// EntryWritten is why a server with a URL is not changed.
func EntryWritten() string { return "is written in a way that belay could not restore" }

// EntryURLVariable is why a server is not changed.
func EntryURLVariable() string {
	return "has a variable in its URL, which could put a secret on a command line"
}

// EntryURLSecret is why a server is not changed.
func EntryURLSecret() string {
	return "has what may be a secret in its URL, and others can see a command line"
}

// EntryURLOther is why a server is not changed.
func EntryURLOther() string { return "has a URL that is not http or https" }

// EntryMayLogIn is why a server is changed only if it is named.
func EntryMayLogIn() string { return "has no credentials in the file and may need a login" }

// EntryLoggedIn is why a server is not changed.
func EntryLoggedIn(client string) string {
	return fmt.Sprintf("is one that %s has logged in to, which belay cannot do", client)
}

// FileChanged says that a file was changed by another program.
func FileChanged() string { return "another program changed it meanwhile; try again" }

// FileBeingWritten says that another program is writing a file.
func FileBeingWritten() string { return "another program is writing it; try again" }

// FileChangedAside says that a file was changed by another program, whose change is now in another file.
func FileChangedAside(path string, err error) string {
	return fmt.Sprintf("another program changed it meanwhile, and that change is now in %s: %v", path, err)
}

// LinkInRepository says that a link is not followed.
func LinkInRepository(path string) string {
	return path + " is a link, and links in a repository are not followed"
}

// LinkNotFollowed says that a link is not followed, after what is said of it already.
func LinkNotFollowed(err error) string {
	return fmt.Sprintf("%v, and links in a repository are not followed", err)
}

// NotWhatItShould says that a path is not what it should be: "a regular file".
func NotWhatItShould(path, want string) string { return fmt.Sprintf("%s is not %s", path, want) }

// IsADirectory says that a path is a directory.
func IsADirectory(path string) string { return path + " is a directory" }

// NoCopy says that a file could not be copied.
func NoCopy(err error) string { return fmt.Sprintf("cannot make a copy: %v", err) }

// NotCalledBelay says that the executable has another name.
func NotCalledBelay(path string) string {
	return path + " is not called belay, so belay could not recognize it later"
}

// WouldSpoil says that a change was not made because it would not be right.
func WouldSpoil(err error) string { return fmt.Sprintf("belay would have damaged it: %v", err) }

// NotToTheByte says that a change could not be undone.
func NotToTheByte() string { return "the change could not be undone byte for byte" }

// ReadOnlyFS says that a directory cannot be written.
func ReadOnlyFS(dir string) string { return dir + " is on a read-only file system" }

// MountedAlone says that a file is a mount of its own.
func MountedAlone() string {
	return "it is a mount of its own and can only be replaced outside that mount"
}

// NoRoom says that a disk is full.
func NoRoom(dir string) string { return "no space left in " + dir }

// CannotCreateIn says that no file can be made in a directory.
func CannotCreateIn(dir string, err error) string {
	return fmt.Sprintf("cannot create a file in %s: %v", dir, err)
}

// Immutable says that a file must not be replaced.
func Immutable() string {
	return "it cannot be replaced: it is immutable, or only the owner of its directory may replace it"
}
