package gemini

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// shellTimeout is how long a command of the shell tool may print nothing, where the user's settings say so; else 0.
func (p *Profile) shellTimeout() time.Duration {
	if p.home == "" {
		return 0
	}
	var s struct {
		Tools struct {
			Shell struct {
				InactivityTimeout json.Number `json:"inactivityTimeout"`
			} `json:"shell"`
		} `json:"tools"`
	}
	json.Unmarshal(agent.ReadSettings(filepath.Join(p.home, "settings.json")), &s)
	return agent.Seconds(s.Tools.Shell.InactivityTimeout.String())
}
