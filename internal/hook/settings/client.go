package settings

import (
	"fmt"
	"os"
	"path/filepath"
)

// Client is an agent CLI that has hooks.
type Client struct {
	Name string
	// home names the directory of its user's settings: an environment variable, else a directory in the user's home.
	homeVar, homeDir string
	// files are its settings files: the user's in that directory, the others in the project.
	files map[Scope]string
	// seconds is what a hook may take if it does not say; lower for some events.
	seconds float64
	events  map[string]float64
	// max is what it may take at most.
	max map[string]float64
	// AfterInstall is what its user must know.
	AfterInstall string
}

// Scope says whose settings they are.
type Scope string

const (
	User    Scope = "user"
	Project Scope = "project" // shared with all who work on it
	Local   Scope = "local"   // the user's own in the project
)

// The clients, and what they grant a hook. Measured with claude 2.1.325 and codex 0.166.0.
var (
	Claude = Client{Name: "claude", homeVar: "CLAUDE_CONFIG_DIR", homeDir: ".claude",
		files:   map[Scope]string{User: "settings.json", Project: ".claude/settings.json", Local: ".claude/settings.local.json"},
		seconds: 600, events: map[string]float64{"SessionEnd": 1.5},
		AfterInstall: "sessions that are open may go on with the hooks they have read"}
	Codex = Client{Name: "codex", homeVar: "CODEX_HOME", homeDir: ".codex",
		files:   map[Scope]string{User: "hooks.json", Project: ".codex/hooks.json"},
		seconds: 600, events: map[string]float64{"SessionEnd": 1}, max: map[string]float64{"SessionEnd": 3},
		AfterInstall: "codex runs a hook that has changed only after you have looked at it: start codex and type /hooks"}
)

// Clients are all there are.
var Clients = []Client{Claude, Codex}

// Path is the settings file of a scope.
func (c Client) Path(scope Scope) (string, error) {
	file, ok := c.files[scope]
	if !ok {
		return "", fmt.Errorf("%s has no settings of scope %q", c.Name, scope)
	}
	if scope != User {
		return file, nil
	}
	dir := os.Getenv(c.homeVar)
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, c.homeDir)
	}
	return filepath.Join(dir, file), nil
}

// grants is how long the client lets a hook run, in seconds.
func (c Client) grants(event string, own float64) float64 {
	seconds := own
	if seconds <= 0 {
		seconds = c.seconds
		if s, ok := c.events[event]; ok {
			seconds = s
		}
	}
	if limit, ok := c.max[event]; ok {
		seconds = min(seconds, limit)
	}
	return seconds
}

// ours is how long belay lets it run: a second less, so that it has ended all before the client ends belay.
func (c Client) ours(event string, own float64) float64 {
	seconds := c.grants(event, own)
	if seconds < 2 {
		return seconds / 2
	}
	return seconds - 1
}
