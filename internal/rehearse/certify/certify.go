// Package certify says which of Belay's promises hold with the very CLI that is installed. They are scenarios ([scenario.Scenario]) that are run against
// stand-ins on loopback: nothing is spent. What was seen is kept by the version and the hash of the executable, so that one that was updated in the night is told
// from the one that was certified.
package certify

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/safefile"
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

// Certificate is what was seen of an executable.
type Certificate struct {
	SchemaVersion int       `json:"schema_version"`
	Agent         string    `json:"agent"`
	Version       string    `json:"version"`
	SHA256        string    `json:"sha256"`
	Belay         string    `json:"belay"`
	At            time.Time `json:"at"`
	Promises      []Promise `json:"promises"`
}

// Promise is one, and whether it was kept.
type Promise struct {
	Name string `json:"name"`
	Kept bool   `json:"kept"`
	// Why says what was expected, and what was seen instead.
	Why string `json:"why,omitempty"`
}

// Lost are the names of the promises that were not kept.
func (c *Certificate) Lost() (names []string) {
	for _, p := range c.Promises {
		if !p.Kept {
			names = append(names, p.Name)
		}
	}
	return names
}

// LostSince are the promises that were kept then and are not kept now.
func (c *Certificate) LostSince(before *Certificate) (names []string) {
	for _, name := range c.Lost() {
		if slices.ContainsFunc(before.Promises, func(p Promise) bool { return p.Name == name && p.Kept }) {
			names = append(names, name)
		}
	}
	return names
}

// Certify tries all promises of an agent, some at a time, and tells of each.
func Certify(ctx context.Context, host scenario.Host, d *agent.Descriptor, path, version string, atATime int, done func(scenario.Outcome)) (*Certificate, error) {
	list, err := Scenarios(d, path)
	if err != nil {
		return nil, err
	}
	c := &Certificate{SchemaVersion: 1, Agent: d.Name, Version: version, At: time.Now().UTC().Truncate(time.Second)}
	if c.SHA256, err = Hash(path); err != nil {
		return nil, err
	}
	for _, o := range scenario.Run(ctx, host, list, atATime, done) {
		p := Promise{Name: o.Scenario.Name, Kept: o.Passed()}
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

// Hash is the SHA-256 of an executable.
func Hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// file is where the certificate of an agent is kept in a state directory.
func file(stateDir, name string) string { return filepath.Join(stateDir, "certified", name+".json") }

// Keep keeps a certificate in a state directory.
func (c *Certificate) Keep(stateDir string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	path := file(stateDir, c.Agent)
	if err := safefile.MakeOwnDir(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, "*.new", append(data, '\n'))
}

// Read reads the certificates of a file, as belay certify --json prints them: one object a line, or one in all.
func Read(r io.Reader) (list []*Certificate, err error) {
	for d := json.NewDecoder(r); ; {
		c := new(Certificate)
		if err := d.Decode(c); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("not a report of belay certify: %w", err)
		}
		list = append(list, c)
	}
}
