package target

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// SayRepointed says what calls another belay than before.
func SayRepointed(w io.Writer, file *clientfile.File, edit clientfile.Edit, belay string) {
	if n := len(edit.Repointed); n > 0 {
		term.Line(w, fmt.Sprintf("%s called a belay that no longer exists and now %s %s.", message.Count(n, Noun(file.Kind)), message.Verb(n, "calls", "call"), belay))
	}
}

// SayShared says what an installation in a file that others share means for them.
func SayShared(w io.Writer, file *clientfile.File, edit clientfile.Edit) {
	if len(edit.Changed) == 0 && len(edit.Repointed) == 0 || !file.Shared() {
		return
	}
	term.Line(w, "Note: everyone who works on this project now needs belay on the PATH. To change only your own settings, use --scope user or local.")
	if _, err := supervise.Look("belay", ""); err != nil {
		term.Line(w, "Warning: belay is not on your own PATH.")
	}
}

// SayComment warns of a comment in a file that the client expects to have none.
func SayComment(w io.Writer, file *clientfile.File) {
	if file.Comment != "" {
		what := map[clientfile.Kind]string{clientfile.Hooks: "settings", clientfile.Servers: "servers"}[file.Kind]
		term.Line(w, fmt.Sprintf("Warning: %s has a comment at %s; %s does not read %s from a file with comments.", file.Path, file.Comment, file.Client.Name, what))
	}
}

// SayMissing names entries that call a belay which cannot be found, and what repairs that.
func SayMissing(w io.Writer, file *clientfile.File) {
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
	term.Line(w, fmt.Sprintf("Warning: %s %s %s, which %s. %s", Entries(n, file.Location), message.Verb(n, "calls", "call"), gone, why, repair))
}

// Entries are hooks or servers of a file, in words.
func Entries(n int, l clientfile.Location) string {
	return fmt.Sprintf("%s in the %s scope (%s)", message.Count(n, Noun(l.Kind)), l.Scope, l.Path)
}

func Noun(kind clientfile.Kind) string {
	if kind == clientfile.Hooks {
		return "hook"
	}
	return "server"
}

// NotEdited says why a file of hooks was left as it is.
func NotEdited(l clientfile.Location, step clientfile.Step, err error) error {
	switch step {
	case clientfile.ReadStep:
		return command.WithHint(command.Fail(err), "the file was not changed")
	case clientfile.ChangeStep:
		return command.Fail(message.Error(message.FileUnchangedBecause(l.Path, err), err))
	}
	return command.Fail(message.Error(fmt.Sprintf("cannot change %s: %v", l.Path, err), err))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(what, "s"))
}
