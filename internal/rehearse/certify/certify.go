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

// Scenarios are the promises for an agent whose CLI is at that path.
func Scenarios(d *agent.Descriptor, path string) ([]*scenario.Scenario, error) {
	var file struct {
		Every scenario.Scenario
		Group []struct {
			scenario.Scenario
			Promises []scenario.Scenario
		}
	}
	if err := toml.NewDecoder(bytes.NewReader(promises)).DisallowUnknownFields().Decode(&file); err != nil {
		return nil, err
	}
	var list []*scenario.Scenario
	for _, group := range file.Group {
		for _, p := range group.Promises {
			s := file.Every.With(group.Scenario).With(p).With(p.Vary["vendor"][d.Rehearsal.Vendor]).With(p.Vary["agent"][d.Name])
			s.Command, s.Shell = slices.Concat([]string{"sh", "-c", s.Shell, "certify", path}, d.Rehearsal.Ask), ""
			list = append(list, s)
		}
	}
	return list, nil
}

// Certify tries all promises of an agent, some at a time, and tells of each.
func Certify(ctx context.Context, belay string, d *agent.Descriptor, path, version string, atATime int, done func(scenario.Outcome)) (*certificate.Certificate, error) {
	list, err := Scenarios(d, path)
	if err != nil {
		return nil, err
	}
	c := &certificate.Certificate{SchemaVersion: 1, Agent: d.Name, Version: version, At: time.Now().UTC().Truncate(time.Second)}
	if c.SHA256, err = certificate.Hash(path); err != nil {
		return nil, err
	}
	report := scenario.Run(ctx, belay, list, atATime, func(o scenario.Outcome) {
		if o.Passed {
			done(o)
		}
	})
	for i, o := range report {
		if !o.Passed && ctx.Err() == nil { // once more, by itself: that the machine was busy is not the CLI's fault
			o = scenario.Run(ctx, belay, list[i:i+1], 1, done)[0]
		}
		c.Promises = append(c.Promises, certificate.Promise{Name: o.Name, Kept: o.Passed, Why: o.Why()})
	}
	return c, ctx.Err()
}
