package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// clientTarget is whose hooks or MCP servers a command is about.
type clientTarget struct {
	kind          clientfile.Kind
	client, scope string
	dryRun        bool
}

// flags adds those that name the target; scope is the one that is meant if none is given.
func (t *clientTarget) flags(cmd *cobra.Command, scope clientfile.Scope, edits bool) {
	flags := cmd.Flags()
	flags.SortFlags = false
	command.AddText(flags, &t.client, "client", "NAME", "the client: "+profile.Or(clients(t.kind)))
	t.scope = string(scope)
	otherwise := "all"
	if scope != "" {
		otherwise = string(scope)
	}
	command.AddText(flags, &t.scope, "scope", "SCOPE", "user, project or local; only claude has local (default "+otherwise+")")
	if edits {
		flags.BoolVar(&t.dryRun, "dry-run", false, "print what would change, and change nothing")
	}
}

// location is the file that is edited. An empty scope is the user's.
func (t *clientTarget) location() (clientfile.Location, error) {
	client := profile.Client(t.client)
	if client == nil {
		return clientfile.Location{}, t.noClient()
	}
	if t.kind == clientfile.Hooks && client.NoHooks != "" {
		return clientfile.Location{}, command.Usage(errors.New(client.NoHooks), "")
	}
	l, err := client.Location(t.kind, clientfile.Scope(cmp.Or(t.scope, string(clientfile.User))))
	if _, ok := errors.AsType[*clientfile.NoScope](err); ok {
		return l, command.Usage(message.Error(message.NoClientScope(t.client, t.scope), err), "use --scope user, --scope project or, for claude, --scope local")
	}
	return l, command.Fail(err)
}

// locations are the places to look at: of one client or of all, of one scope or of all.
func (t *clientTarget) locations() (places []clientfile.Location, err error) {
	for _, client := range profile.Clients() {
		if t.client != "" && t.client != client.Name {
			continue
		}
		own, err := client.Locations(t.kind, clientfile.Scope(t.scope))
		if err != nil {
			return nil, command.Fail(err)
		}
		places = append(places, own...)
	}
	return places, nil
}

// noClient says that the client is missing, or is unknown.
func (t *clientTarget) noClient() error {
	err := errors.New("--client is missing")
	if t.client != "" {
		err = fmt.Errorf("there is no client %q", t.client)
	}
	return command.Usage(err, message.ClientHint(clients(t.kind)))
}

// readClientFile reads a file; nil if there is none.
func readClientFile(l clientfile.Location) (*clientfile.File, error) {
	file, err := clientfile.Read(l)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

// editTries is how often an edit is tried while the file is changed by its client, which does so a few times in a second at most.
const editTries = 50

// clientEdit is an edit of a file, and what it has come to.
type clientEdit struct {
	file *clientfile.File // nil if there is none
	clientfile.Edit
	copied string // where the copy of the file is; empty if there is none
	diff   string // what would change, if nothing is to be changed
	step   editStep
}

// editStep is a step of an edit.
type editStep int

const (
	readStep editStep = iota
	changeStep
	writeStep
)

// edit edits a file, or finds out what would change. If the file is changed meanwhile, it is read and edited again. With an error the file is as it was.
func (t *clientTarget) edit(l clientfile.Location, how func(*clientfile.File) (clientfile.Edit, error)) (e clientEdit, err error) {
	for try := 1; ; try++ {
		e.step = readStep
		if e.file, err = readClientFile(l); err != nil || e.file == nil {
			return e, err
		}
		e.step = changeStep
		if e.Edit, err = how(e.file); err != nil {
			return e, err
		}
		switch {
		case bytes.Equal(e.file.Text, e.After):
			return e, nil
		case t.dryRun:
			e.diff = redact.Text(clientfile.Diff(l.Path, e.file.Text, e.After)) // headers of servers are credentials
			return e, nil
		}
		e.step = writeStep
		e.copied, err = e.file.Replace(e.After)
		if !errors.Is(err, clientfile.ErrChanged) || try == editTries {
			return e, err
		}
		time.Sleep(rand.N(20 * time.Millisecond)) // so that it keeps no time with the client
	}
}

// belayCommand is how a client calls this belay. In a file that others share it is the name alone, which each of them finds
// on a PATH of their own. Elsewhere it is a path: a client that was not started by a shell may have another PATH. That is the
// one on the PATH, if it leads here: it stays the same when a package manager puts a new version behind it.
func belayCommand(l clientfile.Location) (string, error) {
	if l.Shared() {
		return "belay", nil
	}
	return command.Path()
}

// sayRepointed says what calls another belay than before.
func sayRepointed(w io.Writer, file *clientfile.File, edit clientfile.Edit, belay string) {
	if n := len(edit.Repointed); n > 0 {
		term.Line(w, fmt.Sprintf("%s called a belay that no longer exists and now %s %s.", message.Count(n, noun(file.Kind)), message.Verb(n, "calls", "call"), belay))
	}
}

// sayShared says what an installation in a file that others share means for them.
func sayShared(w io.Writer, file *clientfile.File, edit clientfile.Edit) {
	if len(edit.Changed) == 0 && len(edit.Repointed) == 0 || !file.Shared() {
		return
	}
	term.Line(w, "Note: everyone who works on this project now needs belay on the PATH. To change only your own settings, use --scope user or local.")
	if _, err := supervise.Look("belay", ""); err != nil {
		term.Line(w, "Warning: belay is not on your own PATH.")
	}
}

// sayComment warns of a comment in a file that the client expects to have none.
func sayComment(w io.Writer, file *clientfile.File) {
	if file.Comment != "" {
		what := map[clientfile.Kind]string{clientfile.Hooks: "settings", clientfile.Servers: "servers"}[file.Kind]
		term.Line(w, fmt.Sprintf("Warning: %s has a comment at %s; %s does not read %s from a file with comments.", file.Path, file.Comment, file.Client.Name, what))
	}
}

// sayMissing names entries that call a belay which cannot be found, and what repairs that.
func sayMissing(w io.Writer, file *clientfile.File) {
	n, gone := 0, ""
	for _, e := range file.Entries {
		if e.Missing() {
			n, gone = n+1, e.Belay
		}
	}
	if n == 0 {
		return
	}
	why, repair := "no longer exists", fmt.Sprintf("To repair it: belay %s install --client %s --scope %s", file.Kind, file.Client.Name, file.Scope)
	if filepath.Base(gone) == gone {
		why = "is not on the PATH"
		if file.Shared() {
			repair = "Put it there, for example with a link."
		}
	}
	term.Line(w, fmt.Sprintf("Warning: %s %s %s, which %s. %s", entries(n, file.Location), message.Verb(n, "calls", "call"), gone, why, repair))
}

// entries are hooks or servers of a file, in words.
func entries(n int, l clientfile.Location) string {
	return fmt.Sprintf("%s in the %s scope (%s)", message.Count(n, noun(l.Kind)), l.Scope, l.Path)
}

func noun(kind clientfile.Kind) string {
	if kind == clientfile.Hooks {
		return "hook"
	}
	return "server"
}

// clientLook is a location and the file that is there.
type clientLook struct {
	clientfile.Location
	file *clientfile.File // nil if there is none, or err
	err  error
}

// look reads all files of the target. One that cannot be read does not hide the others.
func (t *clientTarget) look() (looks []clientLook, err error) {
	places, err := t.locations()
	for _, l := range places {
		file, err := clientfile.Look(l)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		looks = append(looks, clientLook{l, file, err})
	}
	return looks, err
}

// path is the whole path of the file.
func (l clientLook) path() string {
	if whole, err := filepath.Abs(l.Path); err == nil {
		return whole
	}
	return l.Path
}

// found says in a few words what there is.
func (l clientLook) found() string {
	switch {
	case l.err != nil:
		return "cannot be read"
	case l.file == nil:
		return "not found"
	}
	return count(len(l.file.Entries), noun(l.Kind))
}
