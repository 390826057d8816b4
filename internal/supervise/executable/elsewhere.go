package executable

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// notFound is the failure for a command of that name that is not there.
type notFound string

// Error says where the command is, if an installer has put it into a directory that is not on the PATH: cron, services and containers start with a
// PATH that has none of a user's.
func (name notFound) Error() string {
	text := string(name) + ": command not found"
	if dir := name.elsewhere(); dir != "" {
		text += ". To put its directory on the PATH: export PATH=\"" + dir + ":$PATH\""
	}
	return text
}

func (name notFound) Unwrap() error { return fs.ErrNotExist }

// installed are the directories in which installers of agents, and of what they are written in, put commands, in the order of a usual PATH.
var installed = []string{"~/.local/bin", "~/bin", "~/.claude/local", "~/.npm-global/bin", "~/.nvm/versions/node/*/bin", "~/.volta/bin", "~/.bun/bin", "~/.opencode/bin",
	"~/go/bin", "~/.cargo/bin", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin"}

// elsewhere is the first of these directories that has the command; empty if none has.
func (name notFound) elsewhere() string {
	home, err := os.UserHomeDir()
	if err != nil || filepath.Base(string(name)) != string(name) || strings.ContainsAny(home, "\"$`\\*?[\n") {
		return ""
	}
	for _, pattern := range installed {
		if rest, below := strings.CutPrefix(pattern, "~"); below {
			pattern = home + rest
		}
		dirs, _ := filepath.Glob(filepath.FromSlash(pattern)) // the patterns are well formed
		for _, dir := range dirs {
			if _, err := exec.LookPath(filepath.Join(dir, string(name))); err == nil {
				return dir
			}
		}
	}
	return ""
}
