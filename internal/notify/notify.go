// Package notify tells a person who is looking elsewhere that a run has ended, or goes on after a long wait: by the terminal, and by the
// desktop where there is one. Nothing depends on whether that works.
package notify

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// desktopLimit is how long the desktop's program may take before the next attempt. It takes a hundredth of that.
const desktopLimit = time.Second

// Ended notifies at the end of a run, and does not wait.
func Ended(screen *term.Screen, text string) {
	notify(screen, text, func(path string, args []string) { supervise.Detach(path, args) })
}

// Resumed notifies before a command is started after a long wait. No process of its own is left when it returns.
func Resumed(screen *term.Screen, text string) {
	notify(screen, text, func(path string, args []string) { supervise.DetachFor(desktopLimit, path, args) })
}

func notify(screen *term.Screen, text string, start func(path string, args []string)) {
	how := terminal(os.Getenv)
	screen.Notify(how, text)
	if how != term.Bell && screen.IsTerminal() {
		return // it is on the desktop already
	}
	args := desktop(runtime.GOOS, os.Getenv, exists, screen.Prefix+printable.Line(text))
	if args == nil {
		return
	}
	if path, err := supervise.Look(args[0], ""); err == nil && filepath.IsAbs(path) {
		start(path, args)
	}
}

// terminal says how the terminal can be told, by what it says of itself in the environment. One that says nothing gets a bell: there are
// terminals that print a sequence that they do not know.
//
// Within tmux and screen it is a bell too, which they pass on and mark the window with. Sequences for the terminal around them they pass on only if
// their user allows that, and which terminal it is cannot be known: a session outlives the one that it was made in.
func terminal(env func(string) string) term.Notice {
	name := env("TERM")
	switch {
	case env("TMUX") != "", env("STY") != "", strings.HasPrefix(name, "tmux"), strings.HasPrefix(name, "screen"), name == "linux":
		return term.Bell
	case name == "xterm-kitty":
		return term.OSC99
	case name == "foot", strings.HasPrefix(name, "foot-"):
		return term.OSC777
	case name == "xterm-ghostty", name == "wezterm", env("LC_TERMINAL") == "iTerm2":
		return term.OSC9
	}
	switch env("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty":
		return term.OSC9
	}
	return term.Bell
}

// desktop is the command that shows a text on the desktop; nil if there is none: not on a machine that the user is logged in to from another
// one, and not without a display and a message bus, for which notify-send would wait. The text is a title: what is below a title may be taken for markup.
func desktop(system string, env func(string) string, exists func(path string) bool, text string) []string {
	if env("SSH_CONNECTION") != "" || env("SSH_TTY") != "" {
		return nil
	}
	switch system {
	case "darwin":
		return []string{"osascript", "-e", "on run argv", "-e", "display notification (item 1 of argv)", "-e", "end run", text}
	case "windows":
		return nil
	}
	bus := env("DBUS_SESSION_BUS_ADDRESS") != ""
	if dir := env("XDG_RUNTIME_DIR"); !bus && filepath.IsAbs(dir) {
		bus = exists(filepath.Join(dir, "bus"))
	}
	if !bus || env("DISPLAY") == "" && env("WAYLAND_DISPLAY") == "" {
		return nil
	}
	return []string{"notify-send", text}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
