// Package certificate has what belay certify has seen of the agents that are installed: which of Belay's promises an executable keeps. A certificate is for one
// version, and names the hash of the executable.
package certificate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// maxSize is more than any certificate has.
const maxSize = 1 << 20

// Certificate is what was seen of an executable.
type Certificate struct {
	SchemaVersion int       `json:"schema_version"`
	Agent         string    `json:"agent"`
	Version       string    `json:"version"`
	SHA256        string    `json:"sha256"`
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

// LostSince are those that were kept before.
func (c *Certificate) LostSince(before []Promise) []string {
	return slices.DeleteFunc(c.Lost(), func(name string) bool { return !slices.Contains(before, Promise{name, true, ""}) })
}

// Hash is the SHA-256 of an executable.
func Hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// file is where the certificate of an agent is kept in a state directory.
func file(stateDir, name string) string { return filepath.Join(stateDir, "certified", name+".json") }

// Hint says of a version that is not tested what its certificate has, or how to make one; empty for what cannot be certified.
func Hint(stateDir string, d *agent.Descriptor, version string) string {
	if d == nil || !d.IsAgent() || d.Rehearsal.Ask == nil {
		return ""
	}
	c := Find(stateDir, d.Name, version)
	if c == nil {
		return "; to try Belay's promises with it: belay certify " + d.Name
	}
	return fmt.Sprintf("; belay certify has seen %d of %d promises hold", len(c.Promises)-len(c.Lost()), len(c.Promises))
}

// Find is the certificate of an agent's version in a state directory; nil if there is none.
func Find(stateDir, agent, version string) *Certificate {
	data, err := safefile.ReadOwn(file(stateDir, agent), maxSize)
	c := new(Certificate)
	if err != nil || json.Unmarshal(data, c) != nil || c.Version != version {
		return nil
	}
	return c
}

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

// Read reads the promises of agents from a file, as belay certify --json prints them: one object a line, or one in all.
func Read(path string) (map[string][]Promise, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	promises := map[string][]Promise{}
	for d := json.NewDecoder(f); ; {
		var c Certificate
		if err := d.Decode(&c); err == io.EOF {
			return promises, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: not a report of belay certify: %w", path, err)
		}
		promises[c.Agent] = c.Promises
	}
}
