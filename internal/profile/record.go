package profile

import (
	"path/filepath"

	"github.com/belay-run/belay/internal/agent"
)

// HomeOf is where a CLI keeps what is its own, in that environment.
func HomeOf(d *agent.Descriptor, env []string) string {
	if dir := agent.Getenv(env, d.HomeVar); d.HomeVar != "" && dir != "" {
		return dir
	}
	return filepath.Join(agent.HomeDir(env), d.HomeDir)
}

// FindRecord finds the record of a session, of whichever CLI it is; path is empty if there is none.
func FindRecord(session string, env []string) (d *agent.Descriptor, path string) {
	for _, d := range All() {
		if d.Records == nil || !IsSession(d.Name, session) {
			continue
		}
		if path := d.Records.Find(HomeOf(d, env), session); path != "" {
			return d, path
		}
	}
	return nil, ""
}
