package config

import (
	"os"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
)

// vendorVar is an environment variable of an agent CLI that stands for one of Belay's settings, and its value.
type vendorVar struct {
	*agent.Variable
	value string
}

func (v vendorVar) read() (string, error) { return v.Read(v.value) }

// vendorEnviron is what the profile's own variables say of its settings, by setting.
func vendorEnviron(name string) map[string]vendorVar {
	cli := profile.Find(name)
	if cli == nil || len(cli.Variables) == 0 {
		return nil
	}
	found := map[string]vendorVar{}
	for i := range cli.Variables {
		v := &cli.Variables[i]
		if value := os.Getenv(v.Name); value != "" {
			found[v.Setting] = vendorVar{v, value}
		}
	}
	return found
}
