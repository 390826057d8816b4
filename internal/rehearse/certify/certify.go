// Package certify says which of Belay's promises hold with the very CLI that is installed. They are scenarios ([scenario.Scenario]) that are run against
// stand-ins on loopback: nothing is spent. What was seen is kept by the version and the hash of the executable, so that one that was updated in the night is told
// from the one that was certified.
package certify

import (
	"bytes"
	"context"
	_ "embed"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/certificate"
	"github.com/belay-run/belay/internal/rehearse/scenario"
)

//go:embed promises.toml
var promises []byte

// promise is one that Belay makes of each agent.
type promise struct {
	scenario.Scenario
	Flags   []string           `toml:"flags"`
	Differs map[string]promise `toml:"differs"`
}

// Scenarios are the promises for an agent whose CLI is at that path.
func Scenarios(d *agent.Descriptor, path string) ([]*scenario.Scenario, error) {
	var file struct {
		Promise []promise `toml:"promise"`
	}
	if err := toml.NewDecoder(bytes.NewReader(promises)).DisallowUnknownFields().Decode(&file); err != nil {
		return nil, err
	}
	var list []*scenario.Scenario
	for _, p := range file.Promise {
		s := p.Scenario.With(p.Differs[d.Name].Scenario)
		shell := `exec belay run "$@"`
		args := slices.Concat(p.Flags, []string{"--", path}, d.Rehearsal.Ask)
		if s.Shell != "" {
			shell, args = s.Shell, slices.Concat([]string{path}, d.Rehearsal.Ask)
		}
		s.Shell, s.Command = "", slices.Concat([]string{"sh", "-c", shell, "certify"}, args)
		list = append(list, s)
	}
	return list, nil
}

// Certify tries all promises of an agent, some at a time, and tells of each.
func Certify(ctx context.Context, host scenario.Host, d *agent.Descriptor, path, version string, atATime int, done func(scenario.Outcome)) (*certificate.Certificate, error) {
	list, err := Scenarios(d, path)
	if err != nil {
		return nil, err
	}
	c := &certificate.Certificate{SchemaVersion: 1, Agent: d.Name, Version: version, At: time.Now().UTC().Truncate(time.Second)}
	if c.SHA256, err = certificate.Hash(path); err != nil {
		return nil, err
	}
	for _, o := range scenario.Run(ctx, host, list, atATime, done) {
		p := certificate.Promise{Name: o.Scenario.Name, Kept: o.Passed()}
		switch {
		case o.Err != nil:
			p.Why = o.Err.Error()
		case len(o.Failures) > 0:
			p.Why = o.Failures[0].String()
		}
		c.Promises = append(c.Promises, p)
	}
	return c, ctx.Err()
}
