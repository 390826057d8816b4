package clientfile

import "github.com/belay-run/belay/internal/supervise"

// File is a file of a client as it was read.
type File struct {
	Location
	Text    []byte
	Entries []Entry
	// Comment says where a comment stands in a JSON file; empty if there is none. The clients read nothing from such a file.
	Comment string
}

// Entry is a hook or a server of a file.
type Entry struct {
	// Name is the name of a server; of a hook, what its failures are counted by.
	Name string
	// Event, Matcher and Type belong to a hook.
	Event, Matcher, Type string
	Line                 int
	Command              string // as the client starts it now
	State                State
	// Why is why belay is not put in front of it; empty if it can be.
	Why string
	// Doubt is why belay is put in front of it only if it is named; empty if there is no doubt.
	Doubt string
	// Belay is the belay that it calls, if State is Installed.
	Belay string
	// Remote says that it is a server that is called over the network, by the client or by belay, and URL where it is.
	Remote bool
	URL    string

	command, args *member
	isList        bool     // the command is a list, with the arguments in it
	belayArgs     []string // of belay, up to the command that it starts
	parts         *remoteParts
}

// State says whether belay stands in front of an entry.
type State int

const (
	Direct    State = iota
	Installed       // by [File.Install]
	ByHand          // by the user; Uninstall does not remove it
	Unfit           // it does not, and cannot
)

// Missing reports whether the belay that the entry calls cannot be found or executed.
func (e *Entry) Missing() bool {
	if e.State != Installed {
		return false
	}
	_, err := supervise.Look(e.Belay, "")
	return err != nil
}

// isLine reports whether the command of an entry is a line for a shell.
func (f *File) isLine(e *Entry) bool { return f.Kind == Hooks && e.args == nil }

// remoteParts are the members of a remote server, before Install or after it, and what they are for.
type remoteParts struct {
	kind RemoteKind
	end  int // where the entry ends
	// url is the URL; after Install the list of words whose last one is the URL.
	url *member
	// kindType is the type, headers the headers (after: the variables), vars the variables of the client's own. Each may be nil.
	kindType, headers, vars *member
	// names are the headers that the members of headers stand for, and varNames those of vars. For a token varNames is nil.
	names, varNames []headerName
}

// headerName is the name of a header, and the variable in which its value is.
type headerName struct {
	name, variable string
	bare           bool // it is written without quotes
}
