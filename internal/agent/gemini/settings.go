package gemini

import (
	"encoding/json"
	"io"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
)

// maxSettings is how much of a settings file is read: what we look for is set by hand.
const maxSettings = 256 << 10

// shellTimeout is how long a command of the shell tool may print nothing, where the user's settings say so; else 0.
func (p *Profile) shellTimeout() time.Duration {
	if p.home == "" {
		return 0
	}
	f, err := safefile.OpenRegular(filepath.Join(p.home, "settings.json"))
	if err != nil {
		return 0
	}
	defer f.Close()
	var s struct {
		Tools struct {
			Shell struct {
				InactivityTimeout json.Number `json:"inactivityTimeout"`
			} `json:"shell"`
		} `json:"tools"`
	}
	json.NewDecoder(io.LimitReader(f, maxSettings)).Decode(&s) // a mistake in it is gemini's to report
	return agent.Seconds(s.Tools.Shell.InactivityTimeout.String())
}
