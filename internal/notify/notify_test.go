package notify

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/term"
)

func environment(of map[string]string) func(string) string {
	return func(name string) string { return of[name] }
}

func TestTerminal(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		want term.Notice
	}{
		{map[string]string{"TERM": "xterm-256color"}, term.Bell},
		{map[string]string{}, term.Bell},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, term.OSC9},
		{map[string]string{"TERM": "xterm-256color", "LC_TERMINAL": "iTerm2", "SSH_TTY": "/dev/pts/1"}, term.OSC9},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, term.OSC9},
		{map[string]string{"TERM": "wezterm"}, term.OSC9},
		{map[string]string{"TERM": "xterm-ghostty"}, term.OSC9},
		{map[string]string{"TERM": "xterm-kitty"}, term.OSC99},
		{map[string]string{"TERM": "foot"}, term.OSC777},
		{map[string]string{"TERM": "foot-extra"}, term.OSC777},
		{map[string]string{"TERM": "rxvt-unicode-256color"}, term.Bell}, // which needs an extension
		{map[string]string{"TERM": "xterm-256color", "WT_SESSION": "x"}, term.Bell},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, term.Bell},
		{map[string]string{"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, term.Bell},
		{map[string]string{"TERM": "linux", "TERM_PROGRAM": "ghostty"}, term.Bell}, // which prints what it does not know
		{map[string]string{"TERM": "tmux-256color", "TERM_PROGRAM": "tmux", "LC_TERMINAL": "iTerm2"}, term.Bell},
		{map[string]string{"TERM": "xterm-kitty", "TMUX": "/tmp/tmux-0/default,1,0"}, term.Bell},
		{map[string]string{"TERM": "screen", "TERM_PROGRAM": "WezTerm"}, term.Bell},
		{map[string]string{"TERM": "xterm", "TERM_PROGRAM": "WezTerm", "STY": "1.x"}, term.Bell},
	} {
		if got := terminal(environment(tt.env)); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.env, got, tt.want)
		}
	}
}

func TestDesktop(t *testing.T) {
	const text = `belay: claude finished after 3m12s`
	send := []string{"notify-send", text}
	for _, tt := range []struct {
		system string
		env    map[string]string
		want   []string
	}{
		{"linux", map[string]string{"DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1/bus"}, send},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": "/run/user/1"}, send},
		{"freebsd", map[string]string{"DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "x"}, send},
		{"linux", map[string]string{"DISPLAY": ":0"}, nil},                                   // sudo: no bus
		{"linux", map[string]string{"DISPLAY": ":0", "XDG_RUNTIME_DIR": "/run/user/2"}, nil}, // no bus there
		{"linux", map[string]string{"DISPLAY": ":0", "XDG_RUNTIME_DIR": "run/user/1"}, nil},  // not a path
		{"linux", map[string]string{"DBUS_SESSION_BUS_ADDRESS": "x"}, nil},                   // cron
		{"linux", map[string]string{"DISPLAY": "localhost:10", "DBUS_SESSION_BUS_ADDRESS": "x", // not where the user sits
			"SSH_CONNECTION": "1 2 3 4"}, nil},
		{"darwin", nil, []string{"osascript", "-e", "on run argv", "-e", "display notification (item 1 of argv)", "-e", "end run", text}},
		{"darwin", map[string]string{"SSH_TTY": "/dev/ttys001"}, nil},
		{"windows", map[string]string{"DISPLAY": ":0"}, nil},
	} {
		exists := func(path string) bool { return path == "/run/user/1/bus" }
		if got := desktop(tt.system, environment(tt.env), exists, text); !slices.Equal(got, tt.want) {
			t.Errorf("%s, %v: %q, want %q", tt.system, tt.env, got, tt.want)
		}
	}
}
