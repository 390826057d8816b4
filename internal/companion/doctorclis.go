package companion

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/supervise"
)

// cli is a command that Belay knows, as far as doctor looks at it.
type cli struct {
	name   string
	tested agent.Tested
	get    string // what to type if it is not there
	login  func() (in bool, how string)
	enter  string // what to type to log in
}

func clis() []cli {
	return []cli{
		{name: "claude", tested: claude.Tested, get: "npm install -g @anthropic-ai/claude-code",
			login: claudeLogin, enter: "claude auth login"},
		{name: "codex", tested: codex.Tested, get: "npm install -g @openai/codex", login: codexLogin, enter: "codex login"},
		{name: "gh", tested: gh.Tested, get: getGH(), login: ghLogin, enter: "gh auth login"},
	}
}

// getGH is how gh is installed here.
func getGH() string {
	for _, by := range []struct{ command, get string }{{"brew", "brew install gh"}, {"apt-get", "sudo apt-get install gh"},
		{"dnf", "sudo dnf install gh"}, {"pacman", "sudo pacman -S github-cli"}, {"apk", "sudo apk add github-cli"},
		{"winget", "winget install GitHub.cli"}} {
		if _, err := supervise.Look(by.command, ""); err == nil {
			return by.get
		}
	}
	return "see https://cli.github.com"
}

// askTimeout is how long a CLI may take to say what it is.
const askTimeout = 15 * time.Second

var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+`)

// check finds a CLI, asks for its version, and looks whether it is logged in. Nobody else is talked to.
func (c cli) check() []finding {
	path, err := supervise.Look(c.name, "")
	if err != nil {
		return one(c.name, note, c.get, "is not on the PATH")
	}
	out, err := output(path, "--version")
	if err != nil {
		return one(c.name, wrong, path+" --version", "%s does not say its version: %v", tilde(path), err)
	}
	version := versionNumber.FindString(out)
	list := one(c.name, fine, "", "%s, version %s%s", tilde(path), version, c.standing(version))
	if version == "" {
		list = one(c.name, note, path+" --version", "%s says no version that is understood: %s", tilde(path), out)
	} else if c.tested.Outside(version) {
		list[0].Status = note
	}
	if in, how := c.login(); in {
		list = append(list, one(c.name, fine, "", "logged in: %s", how)...)
	} else {
		list = append(list, one(c.name, note, c.enter, "%s", how)...)
	}
	return list
}

// standing says how a version stands to those that Belay is tested with.
func (c cli) standing(version string) string {
	switch how := c.tested.Standing(version); {
	case how != "" && c.tested.Outside(version):
		return ", not tested: " + how
	case how != "":
		return ", " + how
	case c.tested.Has(version):
		return ", tested"
	}
	return ""
}

// output is what a command prints, one that answers at once and reads nothing.
func output(path string, args ...string) (string, error) {
	var out bytes.Buffer
	var s supervise.Supervisor
	exit, err := s.Run(supervise.Spec{Path: path, Args: append([]string{path}, args...), Env: os.Environ(), Stdout: &limited{to: &out, left: 4096},
		Placement: supervise.OwnGroup, Timeout: askTimeout}, nil)
	if err == nil && exit.ShellCode() != 0 {
		err = fmt.Errorf("it ended with %d", exit.ShellCode())
	}
	return strings.TrimSpace(out.String()), err
}

// keyIn is the first of the variables that is set.
func keyIn(names ...string) string {
	for _, name := range names {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

func claudeLogin() (bool, string) {
	if name := keyIn("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
		"CLAUDE_CODE_USE_FOUNDRY"); name != "" {
		return true, name + " is set"
	}
	path := filepath.Join(homeOf("CLAUDE_CONFIG_DIR", ".claude"), ".credentials.json")
	if hasContent(path) {
		return true, tilde(path)
	}
	if runtime.GOOS == "darwin" {
		return false, "whether it is logged in is in the keychain, which is not asked"
	}
	return false, "no key and no login were found"
}

func codexLogin() (bool, string) {
	if name := keyIn("CODEX_API_KEY", "OPENAI_API_KEY"); name != "" {
		return true, name + " is set"
	}
	path := filepath.Join(homeOf("CODEX_HOME", ".codex"), "auth.json")
	if hasContent(path) {
		return true, tilde(path)
	}
	return false, "no key and no login were found"
}

func ghLogin() (bool, string) {
	if name := keyIn("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"); name != "" {
		return true, name + " is set"
	}
	path, err := supervise.Look("gh", "")
	if err == nil {
		if _, err = output(path, "auth", "token"); err == nil { // asks nobody
			return true, "gh auth token has one"
		}
	}
	return false, "no token was found"
}

// homeOf is where a CLI keeps its own things.
func homeOf(variable, name string) string {
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, name)
}

func hasContent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() > 2
}
