package config

import (
	"embed"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/custom"
	"github.com/belay-run/belay/internal/profile"
)

// shippedFiles are the profiles that come with the command, each a file as a user would write it.
//
//go:embed profiles/*.toml
var shippedFiles embed.FS

func init() {
	files, _ := shippedFiles.ReadDir("profiles")
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".toml")
	}
	profile.Ship(names, func(name string) *agent.Descriptor { return readShipped(name).descriptor })
}

// shippedProfile is such a profile, read.
type shippedProfile struct {
	*custom.Definition
	descriptor *agent.Descriptor
}

var (
	shippedMu   sync.Mutex
	shippedRead = map[string]shippedProfile{}
)

// readShipped reads one of them, once. It panics if there is a mistake in it, which a test would show.
func readShipped(name string) shippedProfile {
	shippedMu.Lock()
	defer shippedMu.Unlock()
	if p, ok := shippedRead[name]; ok {
		return p
	}
	data, err := shippedFiles.ReadFile("profiles/" + name + ".toml")
	if err != nil {
		panic(err)
	}
	var doc struct{ Profile map[string]map[string]any }
	if err := toml.Unmarshal(data, &doc); err != nil {
		panic(name + ": " + err.Error())
	}
	d, key, err := definition(name, doc.Profile[name])
	if err != nil {
		panic(name + ": " + key + ": " + err.Error())
	}
	p := shippedProfile{d, d.Descriptor()}
	if len(p.descriptor.Tested) > 0 { // the others have no home for rehearsals
		p.descriptor.Rehearsal = agent.Rehearsal{Vendor: "chat", Ask: append(slices.Clip(p.descriptor.Ask), "say hi")} // rehearse gives it a home
	}
	shippedRead[name] = p
	return p
}
