package term

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// What Belay prints goes through this package. `make check` finds printing that does not.

// Printf prints to the user. The format is Belay's own; what the arguments bring may be anyone's, so each is shown in one line and cannot
// control the terminal.
func Printf(w io.Writer, format string, args ...any) error {
	if false {
		_ = fmt.Sprintf(format, args...) // lets go vet check the calls
	}
	_, err := io.WriteString(w, sprintf(format, args))
	return err
}

// Line prints a message to the user, in one line whatever it holds.
func Line(w io.Writer, text string) error {
	_, err := io.WriteString(w, printable.Line(text)+"\n")
	return err
}

// Text prints a text of several lines to the user.
func Text(w io.Writer, text string) error {
	_, err := io.WriteString(w, printable.Text(text))
	return err
}

// JSON prints a value as one line of JSON.
func JSON(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err == nil {
		_, err = w.Write(append(printable.JSON(data), '\n'))
	}
	return err
}

// JSONLines prints each value of a list as one line of JSON.
func JSONLines[T any](w io.Writer, list []T) error {
	for _, value := range list {
		if err := JSON(w, value); err != nil {
			return err
		}
	}
	return nil
}

// sprintf is fmt.Sprintf for arguments that Belay did not write itself.
func sprintf(format string, args []any) string {
	wrapped := make([]any, len(args))
	for i, arg := range args {
		wrapped[i] = foreign{arg}
	}
	return fmt.Sprintf(format, wrapped...)
}

// foreign is an argument that may hold anything.
type foreign struct{ value any }

// Format implements [fmt.Formatter].
func (f foreign) Format(s fmt.State, verb rune) {
	format, value := fmt.FormatString(s, verb), f.value
	if verb == 'q' { // which shows control characters as escapes
		fmt.Fprintf(s, format, value)
		return
	}
	if text, ok := value.(string); ok { // before a width is applied to it
		value = printable.Line(text)
	}
	io.WriteString(s, printable.Line(fmt.Sprintf(format, value)))
}

// Panicked reports a panic of Belay's own: one clear line, and what a report of it needs. It is called where the panic is recovered.
func Panicked(w io.Writer, value any) {
	Printf(w, "belay: internal error: %v; please report it with what follows\n", value)
	Text(w, string(debug.Stack()))
}

// Tilde returns a path below the home directory with ~.
func Tilde(path string) string {
	home, err := os.UserHomeDir()
	if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); err == nil && ok && home != "" {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// Size returns a number of bytes in the unit that suits it.
func Size(n int64) string { return printable.Size(n) }
