package belay_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/belay-run/belay"

// arrows says which of our packages each package may import directly; imports run one way. A package that is not
// listed here has no place yet: give it one.
var arrows = map[string][]string{
	"verdict":            {},
	"retry":              {},
	"supervise":          {},
	"breaker":            {},
	"gate":               {"breaker"},
	"gate/gatetest":      {"gate", "breaker"},
	"journal":            {"verdict"},
	"boundary":           {},
	"boundary/gosdk":     {"boundary"},
	"hook":               {"boundary", "journal", "supervise", "verdict"},
	"hook/settings":      {"internal/dotfile"},
	"agent":              {"supervise", "verdict"},
	"agent/agenttest":    {"agent", "verdict"},
	"agent/claude":       {"agent", "supervise", "verdict"},
	"agent/codex":        {"agent", "supervise", "verdict"},
	"agent/generic":      {"verdict"},
	"agent/gh":           {"agent", "verdict"},
	"":                   {"agent", "agent/claude", "agent/codex", "agent/generic", "alert", "gate", "journal", "retry", "supervise", "verdict"},
	"mcp/install":        {"internal/dotfile"},
	"mcp":                {"gate", "journal", "retry", "supervise", "verdict"},
	"gh":                 {"", "agent/gh", "breaker", "retry", "verdict"},
	"examples/ghsync":    {"", "gh", "retry"},
	"internal/dotfile":   {},
	"internal/config":    {"alert", "retry", "verdict"},
	"internal/term":      {"supervise"},
	"internal/clitest":   {"agent"},
	"companion/rehearse": {},
	"alert":              {},
	"companion/db":       {"alert", "journal", "verdict"},
	"companion":          {"", "agent", "agent/claude", "agent/codex", "agent/gh", "alert", "companion/db", "companion/rehearse", "gate", "internal/config", "internal/term", "journal", "supervise", "verdict"},
	"cmd/belayd":         {"companion"},
	"internal/cli":       {"", "agent", "agent/claude", "agent/codex", "agent/generic", "agent/gh", "alert", "breaker", "gate", "hook", "hook/settings", "internal/config", "internal/dotfile", "internal/term", "journal", "mcp", "mcp/install", "retry", "supervise", "verdict"},
	"cmd/belay":          {"internal/cli"},
	"e2e/stage":          {"agent", "companion/rehearse", "internal/clitest", "journal"},
	"e2e/claude":         {},
	"e2e/codex":          {},
	"e2e/hooks":          {},
	"e2e/mcp":            {},
	"e2e/record":         {},
	"e2e/mcp/probe":      {},
}

// heavy must not be linked into belay: every call would pay for it.
var heavy = []string{"net/http", "database/sql", "modernc.org/", "github.com/modelcontextprotocol/", "crypto/tls",
	"go.opentelemetry.io/", "github.com/jackc/pgx"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// ours returns the path of a package within the module.
func ours(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func TestArchitecture_ImportsRunOneWay(t *testing.T) {
	for _, p := range list(t, "./...") {
		name, _ := ours(p.ImportPath)
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %q has no place in the architecture", name)
		}
		for _, imported := range p.Imports {
			if to, ok := ours(imported); ok && !slices.Contains(allowed, to) {
				t.Errorf("%q must not import %q", name, to)
			}
			if imported == "os/exec" && name != "supervise" && name != "e2e/stage" { // which is part of tests
				t.Errorf("%q must not start processes: only supervise does", name)
			}
		}
	}
}

func TestArchitecture_BelayLinksNothingHeavy(t *testing.T) {
	for _, p := range list(t, "./cmd/belay") {
		for _, dep := range p.Deps {
			for _, h := range heavy {
				if dep == strings.TrimSuffix(h, "/") || strings.HasPrefix(dep, h) && strings.HasSuffix(h, "/") {
					t.Errorf("cmd/belay links %s", dep)
				}
			}
		}
	}
}
