// Package install puts `belay mcp` in front of the servers in an MCP client's configuration, and takes it away again.
//
// It changes the few bytes that have to change: the command becomes belay, and the command that was there moves, as it is
// written, to the front of the arguments. Everything else stays: order, spacing, comments, unknown keys. [Remove] gives
// back exactly the bytes that there were.
package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format reads the servers of a configuration.
type Format interface {
	// servers finds them. The error names the place in the file that cannot be understood.
	servers(data []byte) ([]entry, error)
	// arguments is the text that gives a server arguments which has none, to stand behind its command.
	arguments(e entry, list string) string
}

// Server is what a configuration says of one.
type Server struct {
	Name string
	// Behind says that belay stands in front of it, Remote that it is not started by the client but called over a network.
	Behind, Remote bool
	// Changed says that this edit has put belay there or taken it away.
	Changed bool
}

// entry is a server as it stands in the file.
type entry struct {
	name    string
	command *token
	list    *array // the arguments; nil if there are none
	key     string // as it is written before "command", for formats that repeat it
	inline  bool
	// timeout and start are the client's own limits for a call and for the start; 0 if it has none.
	timeout, start time.Duration
}

// token is a string in the file.
type token struct {
	from, to int
	value    string
}

// array is a list of strings in the file, its brackets included. Other elements have no value, and are there.
type array struct {
	from, to int
	items    []token
}

// edit replaces bytes.
type edit struct {
	from, to int
	text     string
}

// Add puts belay, at that path, in front of the servers with these names; of all if there are none.
func Add(f Format, data []byte, belay string, names ...string) ([]byte, []Server, error) {
	return change(f, data, names, func(e entry) []edit {
		if e.command == nil || e.behind() {
			return nil
		}
		own := []edit{{e.command.from, e.command.to, strconv.Quote(belay)}}
		written := string(data[e.command.from:e.command.to])
		if e.list == nil {
			// In one word, the name says that there were no arguments: Remove takes all of them away.
			list := "[" + strings.Join(append(quote("mcp", "--name="+e.name), append(e.limits(), `"--"`, written)...), ", ") + "]"
			own[0].text += f.arguments(e, list)
			return own
		}
		text := strings.Join(append(quote("mcp", "--name", e.name), append(e.limits(), `"--"`, written)...), ", ")
		if len(e.list.items) > 0 {
			text += ", "
		}
		return append(own, edit{e.list.from + 1, e.list.from + 1, text})
	})
}

// Remove takes belay away from the servers with these names; from all if there are none.
func Remove(f Format, data []byte, names ...string) ([]byte, []Server, error) {
	return change(f, data, names, func(e entry) []edit {
		if !e.behind() {
			return nil
		}
		items := e.list.items
		at := slices.IndexFunc(items, func(t token) bool { return t.value == "--" }) + 1
		written := string(data[items[at].from:items[at].to])
		if strings.HasPrefix(items[1].value, "--name=") {
			return []edit{{e.command.from, e.list.to, written}}
		}
		end := items[at].to
		if at+1 < len(items) {
			end += len(", ")
		}
		return []edit{{e.command.from, e.command.to, written}, {e.list.from + 1, end, ""}}
	})
}

// Look says what a configuration has.
func Look(f Format, data []byte) ([]Server, error) {
	_, servers, err := change(f, data, nil, func(entry) []edit { return nil })
	return servers, err
}

// behind says whether belay stands in front of the server, put there by Add.
func (e entry) behind() bool {
	if e.command == nil || e.list == nil || len(e.list.items) < 4 {
		return false
	}
	items := e.list.items
	at := slices.IndexFunc(items, func(t token) bool { return t.value == "--" })
	return strings.TrimSuffix(filepath.Base(e.command.value), ".exe") == "belay" && items[0].value == "mcp" &&
		strings.HasPrefix(items[1].value, "--name") && at > 0 && at+1 < len(items)
}

// limits are the client's own limits less a second, so that calls which it would have waited for are waited for, and it is
// told why one has failed before it gives up by itself.
func (e entry) limits() (flags []string) {
	if e.timeout > 0 {
		flags = append(flags, quote("--timeout", earlier(e.timeout))...)
	}
	if e.start > 0 {
		flags = append(flags, quote("--start-timeout", earlier(e.start))...)
	}
	return flags
}

// earlier is a second less, half of what is below two, as one would write it.
func earlier(d time.Duration) string {
	if d -= time.Second; d < time.Second {
		d = (d + time.Second) / 2
	}
	text := d.Round(time.Millisecond).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	return text
}

// NoServer says that a configuration has no server of that name.
type NoServer struct {
	Name  string
	Known []string // those that it has
}

func (e *NoServer) Error() string { return fmt.Sprintf("there is no server %q", e.Name) }

func quote(words ...string) []string {
	for i, w := range words {
		words[i] = strconv.Quote(w)
	}
	return words
}

func change(f Format, data []byte, names []string, how func(entry) []edit) ([]byte, []Server, error) {
	entries, err := f.servers(data)
	if err != nil {
		return nil, nil, err
	}
	var known []string
	for _, e := range entries {
		known = append(known, e.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, nil, &NoServer{name, known}
		}
	}
	var edits []edit
	var servers []Server
	for _, e := range entries {
		s := Server{Name: e.name, Behind: e.behind(), Remote: e.command == nil}
		if len(names) == 0 || slices.Contains(names, e.name) {
			if own := how(e); len(own) > 0 {
				edits = append(edits, own...)
				s.Changed, s.Behind = true, !s.Behind
			}
		}
		servers = append(servers, s)
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, data[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, data[at:]...), servers, nil
}

// place names a position in a file, as editors do.
func place(data []byte, offset int) string {
	before := string(data[:min(max(offset, 0), len(data))])
	line := strings.Count(before, "\n") + 1
	return fmt.Sprintf("line %d, column %d", line, len(before)-strings.LastIndexByte(before, '\n'))
}
