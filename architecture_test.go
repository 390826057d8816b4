package belay_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

const module = "github.com/belay-run/belay"

// arrows says which of our packages each package may import directly; imports run one way. A package that is not
// listed here has no place yet: give it one.
var arrows = map[string][]string{
	"verdict":                    {"internal/printable", "internal/signame"},
	"retry":                      {},
	"internal/supervise":         {"internal/supervise/ceiling", "internal/supervise/detach", "internal/supervise/executable", "internal/supervise/proctable", "internal/supervise/runrecord", "internal/supervise/stream", "internal/supervise/terminal"},
	"breaker":                    {"internal/printable"},
	"gate":                       {"breaker", "internal/clock", "internal/flock", "internal/gatefile", "internal/printable", "internal/quota", "internal/redact", "internal/safefile", "internal/sharedfile", "retry"},
	"internal/gatefile":          {"internal/atomicfile", "internal/flock", "internal/safefile"},
	"internal/gatetest":          {"breaker", "gate", "internal/test/must"},
	"internal/faulttest":         {"retry", "verdict"},
	"internal/faulttest/player":  {"internal/faulttest"},
	"internal/journal":           {"internal/label", "internal/printable", "internal/redact", "internal/safefile", "verdict"},
	"internal/label":             {"internal/redact"},
	"internal/outcome":           {"verdict"},
	"internal/redact":            {},
	"internal/redact/redacttest": {},
	"boundary":                   {},
	"boundary/gosdk":             {"boundary"},
	"internal/hook":              {"boundary", "internal/journal", "internal/message", "internal/redact", "internal/supervise", "internal/term", "verdict"},
	"internal/agent/history":     {"internal/atomicfile", "internal/picture", "internal/price", "internal/printable", "internal/redact", "internal/safefile", "verdict"},
	"internal/picture":           {},
	"internal/agent":             {"internal/agent/history", "internal/clientfile", "internal/price", "internal/printable", "internal/quota", "internal/redact", "internal/safefile", "internal/supervise", "retry", "verdict"},
	"internal/price":             {},
	"internal/quota":             {},
	"internal/agent/agenttest":   {"internal/agent", "internal/agent/history", "internal/outcome", "internal/quota", "internal/test/must", "verdict"},
	"internal/agent/generic":     {"internal/signame", "verdict"},
	"internal/state":             {"gate", "internal/alert", "internal/atomicfile", "internal/budget", "internal/flock", "internal/journal", "internal/look", "internal/price", "internal/profile", "internal/safefile", "internal/spool", "internal/supervise", "verdict"},
	"internal/look":              {"internal/safefile"},
	"internal/look/viewer":       {"internal/look", "internal/safefile"},
	"internal/spool":             {"internal/redact", "internal/safefile", "internal/supervise"},
	"internal/atomicfile":        {"internal/safefile"},
	"internal/batch":             {"internal/atomicfile", "internal/batch/level", "internal/batch/marked", "internal/batch/tasks", "internal/budget", "internal/flock", "internal/message", "internal/safefile", "verdict"},
	"internal/budget":            {"internal/safefile", "internal/sharedfile"},
	"internal/sharedfile":        {"internal/atomicfile", "internal/flock", "internal/safefile"},
	"internal/overview":          {"breaker", "gate", "internal/budget", "internal/clock", "internal/config", "internal/journal", "internal/message", "internal/printable", "internal/quota", "internal/state", "internal/supervise", "internal/term"},
	"internal/clock":             {},
	"internal/signame":           {},
	"internal/flock":             {"internal/safefile"},
	"internal/safefile":          {},
	"internal/shim":              {},
	"internal/engine/output":     {"belaytype"},
	"internal/engine/events":     {"belaytype", "internal/agent", "internal/look"},
	"internal/engine/input":      {"belaytype", "internal/engine/output"},
	"internal/engine/call":       {"belaytype", "gate", "internal/agent", "internal/agent/generic", "internal/alert", "internal/budget", "internal/clock", "internal/engine/output", "internal/journal", "internal/label", "internal/message", "internal/price", "internal/printable", "internal/quota", "internal/redact", "internal/state", "internal/supervise", "retry", "verdict"},
	"internal/engine/spending":   {"belaytype", "internal/agent", "internal/alert", "internal/budget", "internal/clock", "internal/engine/call", "internal/gatefile", "internal/redact", "internal/state", "retry", "verdict"},
	"internal/engine/session":    {"gate", "internal/agent", "internal/engine/call", "internal/safefile", "internal/state", "verdict"},
	"internal/engine/admission":  {"belaytype", "gate", "internal/agent", "internal/clock", "internal/engine/call", "internal/engine/spending", "internal/journal", "internal/message", "internal/supervise", "retry", "verdict"},
	"internal/engine/transcript": {"belaytype", "internal/agent", "internal/engine/admission", "internal/engine/call", "internal/engine/output", "internal/engine/session", "internal/engine/spending", "internal/journal", "internal/message", "internal/printable", "internal/quota", "internal/redact", "internal/supervise", "retry", "verdict"},
	"internal/engine/enginetest": {"internal/agent", "internal/engine", "internal/quota", "internal/supervise", "verdict"},
	"internal/engine":            {"belaytype", "gate", "internal/agent", "internal/agent/generic", "internal/agent/history", "internal/alert", "internal/budget", "internal/clock", "internal/engine/admission", "internal/engine/call", "internal/engine/events", "internal/engine/input", "internal/engine/output", "internal/engine/session", "internal/engine/spending", "internal/engine/transcript", "internal/journal", "internal/label", "internal/message", "internal/printable", "internal/profile", "internal/redact", "internal/safefile", "internal/shim", "internal/state", "internal/supervise", "internal/trace", "internal/worktree", "retry", "verdict"},
	"internal/worktree":          {"belaytype", "gate", "internal/atomicfile", "internal/flock", "internal/message", "internal/printable", "internal/redact", "internal/safefile", "internal/supervise"},
	"internal/trace":             {},
	"belaytype":                  {"gate", "internal/label", "internal/message", "internal/printable", "retry", "verdict"},
	"internal/profile":           {"internal/agent", "internal/agent/generic", "internal/clientfile", "retry"},
	"":                           {"belaytype", "boundary", "gate", "internal/agent", "internal/alert", "internal/config", "internal/engine", "internal/hook", "internal/journal", "internal/label", "internal/profile", "internal/state", "internal/supervise", "retry", "verdict"},
	"internal/mcp":               {"gate", "internal/journal", "internal/mcp/relay", "internal/mcp/wire", "internal/message", "internal/supervise", "verdict"},
	"internal/mcp/host":          {"gate", "internal/alert", "internal/config", "internal/engine", "internal/journal", "internal/label", "internal/mcp", "internal/message", "internal/redact", "internal/state", "internal/supervise", "internal/term"},
	"internal/mcp/relay":         {"gate", "internal/journal", "internal/mcp/wire", "internal/message", "internal/redact", "retry", "verdict"},
	"internal/mcp/remote":        {"internal/mcp", "internal/mcp/relay", "internal/message", "internal/redact", "retry", "verdict"},
	"internal/mcp/wire":          {},
	"batch":                      {"", "internal/batch", "internal/engine", "retry", "verdict"},
	"gh":                         {"", "breaker", "internal/agent/gh", "internal/safefile", "retry", "verdict"},
	"rehearsetest":               {"internal/rehearse", "internal/rehearse/rehearsal"},
	"scripts/api":                {},
	"scripts/examples":           {"internal/rehearse", "internal/profile", "internal/supervise"},
	"scripts/arrows":             {},
	"scripts/lines":              {},
	"scripts/reference":          {"internal/belayd", "internal/command/belay", "internal/command/help", "internal/config"},
	"scripts/unit":               {},
	"scripts/sixfaults":          {"internal/agent", "internal/rehearse", "internal/profile", "internal/supervise"},
	"examples/ghsync":            {"", "gh", "retry"},
	"internal/config":            {"internal/agent", "internal/agent/custom", "internal/clientfile", "internal/agent/generic", "internal/alert", "internal/budget", "internal/label", "internal/message", "internal/price", "internal/printable", "internal/profile", "internal/quota", "internal/safefile", "internal/signame", "internal/supervise", "retry", "verdict"},
	"internal/clientfile":        {"internal/message", "internal/redact", "internal/safefile", "internal/supervise"},
	"internal/belayd":            {"internal/config", "verdict"},
	"internal/version":           {},
	"internal/doctor":            {"internal/agent", "internal/certificate", "internal/config", "internal/message", "internal/profile", "internal/redact", "internal/safefile", "internal/shim", "internal/state", "internal/supervise", "internal/term"},
	"internal/stdio":             {"internal/supervise"},
	"internal/printable":         {},
	"internal/message":           {"gate", "internal/printable", "verdict"},
	"internal/term":              {"internal/printable", "internal/stdio", "internal/supervise"},
	"internal/notify":            {"internal/printable", "internal/supervise", "internal/term"},
	"internal/term/termtest":     {"internal/printable"},
	"internal/test/must":         {},
	"internal/built":             {"internal/flock"},
	"internal/clitest":           {"internal/agent", "internal/agent/claude", "internal/agent/codex", "internal/agent/gh", "internal/supervise", "internal/test/must"},
	"internal/rehearse":          {"internal/flock", "internal/message", "internal/picture"},
	"internal/certificate":       {"internal/agent", "internal/atomicfile", "internal/safefile"},
	"internal/rehearse/certify":  {"internal/agent", "internal/certificate", "internal/rehearse/scenario"},
	"internal/rehearse/scenario": {"internal/actions", "internal/agent", "internal/atomicfile", "internal/journal", "internal/message", "internal/price", "internal/printable", "internal/rehearse", "internal/rehearse/rehearsal", "internal/safefile", "internal/state", "internal/supervise", "internal/term", "verdict"},
	"internal/alert":             {"internal/redact", "internal/sharedfile"},
	"internal/record":            {"internal/alert", "internal/journal", "internal/label", "internal/message", "internal/price", "internal/record/database", "internal/record/logfile", "internal/redact", "internal/safefile", "verdict"},
	"internal/record/database":   {"internal/flock", "internal/message", "internal/safefile"},
	"internal/record/logfile":    {"internal/atomicfile", "internal/safefile"},
	"internal/telemetry/metrics": {"breaker", "internal/record", "internal/overview", "internal/state", "internal/supervise", "internal/version"},
	"internal/when":              {"internal/message"},
	"internal/top":               {"internal/journal", "internal/label", "internal/message", "internal/overview", "internal/price", "internal/printable", "internal/stdio", "internal/supervise", "internal/term", "verdict"},
	"internal/page/view":         {"gate", "internal/agent/history", "internal/batch", "internal/record", "internal/when", "internal/journal", "internal/label", "internal/look", "internal/look/viewer", "internal/message", "internal/overview", "internal/printable", "internal/profile", "internal/spool", "internal/state", "internal/supervise", "verdict"},
	"internal/page":              {"internal/actions", "internal/record", "internal/page/view", "internal/look", "internal/message", "internal/printable", "verdict"},
	"internal/actions":           {"internal/message", "internal/printable"},
	"internal/actionstest":       {},
	"cmd/belay":                  {"internal/command", "internal/command/belay"},
	"internal/e2e/stage":         {"internal/agent", "internal/agent/claude", "internal/agent/codex", "internal/agent/opencode", "internal/built", "internal/clitest", "internal/rehearse", "internal/journal", "internal/profile", "internal/test/must"},
	"internal/e2e/agents":        {},
	"internal/e2e/hooks":         {},
	"internal/e2e/mcp":           {},
	"internal/e2e/record":        {},
	"internal/e2e/release":       {},
	"internal/e2e/smoke":         {},
	"internal/e2e/upgrade":       {},
	"internal/e2e/mcp/probe":     {},

	"internal/fleet/store":     {"gate", "internal/clock", "internal/message", "internal/redact", "internal/safefile"},
	"internal/fleet/merge":     {"breaker", "gate", "internal/quota"},
	"internal/fleet/member":    {"breaker", "gate", "internal/atomicfile", "internal/budget", "internal/clock", "internal/record/logfile", "internal/fleet/merge", "internal/fleet/store", "internal/flock", "internal/gatefile", "internal/journal", "internal/message", "internal/overview", "internal/printable", "internal/safefile", "internal/state", "internal/supervise", "retry"},
	"internal/fleet/fleettest": {"internal/fleet/store", "internal/test/must"},
	"internal/fleet/files":     {"internal/fleetpipe", "internal/message", "internal/printable", "internal/redact", "internal/safefile", "internal/supervise"},
	"internal/fleet/jobs":      {"internal/clock", "internal/atomicfile", "internal/fleet/files", "internal/fleet/member", "internal/fleet/store", "internal/fleetpipe", "internal/engine", "internal/label", "internal/message", "internal/printable", "internal/profile", "internal/safefile", "internal/supervise", "retry"},
	"internal/fleetpipe":       {},

	"internal/telemetry":          {"internal/agent", "internal/record", "internal/message", "internal/overview", "internal/profile", "internal/redact", "internal/safefile", "internal/state", "internal/trace", "internal/version", "retry", "verdict"},
	"internal/telemetry/otlptest": {}, // the receiver of its tests

	"cmd/belayd":                  {"internal/belayd", "internal/belayd/request", "internal/command/log", "internal/stdio"}, // and the commands that it links
	"internal/belayd/request":     {"internal/belayd", "internal/message", "internal/stdio", "internal/term", "internal/version"},
	"internal/command/question":   {"internal/belayd/request", "internal/command/table", "internal/fleet/logs", "internal/fleet/store", "internal/label", "internal/message", "internal/record", "internal/record/database", "internal/state", "internal/term", "internal/when", "verdict"},
	"internal/command/table":      {"internal/agent/generic", "internal/label", "internal/message", "internal/printable", "internal/record", "internal/term", "verdict"},
	"internal/command/signals":    {"internal/stdio", "internal/supervise"},
	"internal/rehearse/demo":      {"internal/message", "internal/printable", "internal/rehearse", "internal/rehearse/rehearsal", "internal/safefile", "internal/state", "internal/stdio", "internal/supervise", "internal/term"},
	"internal/rehearse/rehearsal": {"internal/message", "internal/printable", "internal/profile", "internal/rehearse", "internal/state", "internal/term"},
	"internal/alert/delivery":     {"internal/alert", "internal/config", "internal/label", "internal/message", "internal/printable", "internal/record", "internal/redact", "internal/supervise", "internal/version"},
	"internal/top/local":          {"internal/journal", "internal/message", "internal/overview", "internal/page/view", "internal/printable", "internal/record", "internal/record/database", "internal/spool", "internal/supervise", "internal/top"},
	"internal/page/browser":       {"internal/safefile", "internal/supervise"},
	"internal/fleet/logs":         {"internal/fleet/store", "internal/record"},
	"internal/fleet/status":       {"gate", "internal/fleet/member", "internal/fleet/merge", "internal/fleet/store", "internal/message", "internal/overview", "internal/page/view", "internal/spool", "internal/supervise", "internal/term"},
	"internal/term/tabletest":     {"internal/printable", "internal/term"},

	// The rooms of batch, which only batch uses.
	"internal/batch/level":  {},
	"internal/batch/marked": {"internal/safefile"},
	"internal/batch/tasks":  {"internal/batch/marked", "internal/flock", "internal/message", "internal/safefile"},

	// The rooms of supervise, which only supervise uses.
	"internal/supervise/ceiling":    {"internal/supervise/proctable"},
	"internal/supervise/detach":     {"internal/supervise/executable", "internal/supervise/proctable"},
	"internal/supervise/executable": {"internal/safefile"},
	"internal/supervise/proctable":  {},
	"internal/supervise/runrecord":  {"internal/atomicfile", "internal/label", "internal/redact", "internal/safefile", "internal/supervise/proctable"},
	"internal/supervise/stream":     {},
	"internal/supervise/terminal":   {"internal/supervise/proctable"},

	// The commands of belay, and what they share.
	"internal/batch/fleet":          {"internal/agent/generic", "internal/batch", "internal/belayd", "internal/command", "internal/fleetpipe", "internal/message", "internal/supervise", "verdict"},
	"internal/clientfile/target":    {"internal/clientfile", "internal/command", "internal/message", "internal/profile", "internal/supervise", "internal/term"},
	"internal/detach":               {"belaytype", "internal/agent", "internal/clock", "internal/command", "internal/config", "internal/engine", "internal/message", "internal/printable", "internal/spool", "internal/stdio", "internal/supervise", "internal/term"},
	"internal/setup":                {"belaytype", "breaker", "gate", "internal/agent", "internal/agent/generic", "internal/budget", "internal/command", "internal/config", "internal/engine", "internal/label", "internal/message", "internal/printable", "internal/profile", "internal/state", "internal/stdio", "internal/supervise", "verdict"},
	"internal/command":              {"belaytype", "internal/belayd", "internal/config", "internal/engine", "internal/label", "internal/message", "internal/overview", "internal/printable", "internal/profile", "internal/state", "internal/stdio", "internal/supervise", "internal/term", "internal/version", "internal/worktree"},
	"internal/command/uninstallall": {"internal/clientfile", "internal/clientfile/target", "internal/command", "internal/command/shim", "internal/message", "internal/profile", "internal/state", "internal/term"},
	"internal/command/shim":         {"internal/agent", "internal/clientfile", "internal/command", "internal/command/run", "internal/config", "internal/doctor", "internal/engine", "internal/message", "internal/profile", "internal/setup", "internal/shim", "internal/state", "internal/stdio", "internal/supervise", "internal/term"},
	"internal/command/run":          {"belaytype", "gate", "internal/actions", "internal/agent", "internal/agent/generic", "internal/alert", "internal/atomicfile", "internal/budget", "internal/certificate", "internal/clock", "internal/command", "internal/command/budget", "internal/config", "internal/detach", "internal/engine", "internal/fleetpipe", "internal/journal", "internal/message", "internal/notify", "internal/overview", "internal/printable", "internal/profile", "internal/redact", "internal/safefile", "internal/setup", "internal/state", "internal/stdio", "internal/supervise", "internal/term", "retry", "verdict"},
	"internal/command/ps":           {"internal/belayd", "internal/command", "internal/label", "internal/message", "internal/overview", "internal/printable", "internal/spool", "internal/supervise", "internal/term"},
	"internal/command/profile":      {"internal/agent/custom", "internal/agent/generic", "internal/command", "internal/config", "internal/message", "internal/outcome", "internal/profile", "internal/setup", "internal/signame", "internal/term", "verdict"},
	"internal/command/prices":       {"internal/command", "internal/config", "internal/message", "internal/price", "internal/term"},
	"internal/command/mcp":          {"internal/belayd", "internal/clientfile", "internal/clientfile/target", "internal/command", "internal/config", "internal/engine", "internal/mcp", "internal/mcp/host", "internal/mcp/relay", "internal/message", "internal/printable", "internal/profile", "internal/redact", "internal/state", "internal/stdio", "internal/supervise", "internal/term"},
	"internal/command/log":          {"internal/belayd/request", "internal/command/alerts", "internal/command/audit", "internal/command/events", "internal/command/question", "internal/command/table", "internal/journal", "internal/label", "internal/message", "internal/printable", "internal/record", "internal/term", "verdict"},
	"internal/command/limits":       {"internal/command", "internal/message", "internal/overview", "internal/term"},
	"internal/command/hook":         {"internal/clientfile", "internal/clientfile/target", "internal/command", "internal/config", "internal/engine", "internal/hook", "internal/journal", "internal/label", "internal/message", "internal/profile", "internal/state", "internal/stdio", "internal/supervise", "internal/term"},
	"internal/command/help":         {"internal/belayd", "internal/command", "internal/config", "internal/engine", "internal/message", "internal/profile", "internal/term", "verdict"},
	"internal/command/handover":     {"internal/belayd", "internal/command", "internal/config", "internal/journal", "internal/message", "internal/printable"},
	"internal/command/gates":        {"breaker", "gate", "internal/belayd", "internal/clock", "internal/command", "internal/config", "internal/message", "internal/overview", "internal/printable", "internal/state", "internal/term"},
	"internal/command/explain":      {"internal/actions", "internal/agent", "internal/agent/generic", "internal/command", "internal/config", "internal/message", "internal/outcome", "internal/printable", "internal/profile", "internal/redact", "internal/setup", "internal/signame", "internal/term", "verdict"},
	"internal/command/doctor":       {"internal/belayd", "internal/command", "internal/doctor", "internal/message", "internal/supervise", "internal/term", "internal/version"},
	"internal/command/config":       {"internal/agent/generic", "internal/command", "internal/config", "internal/setup", "internal/state", "internal/term"},
	"internal/command/completion":   {"belaytype", "internal/clientfile", "internal/command", "internal/message", "internal/profile"},
	"internal/command/commandtest":  {"internal/command", "internal/command/belay", "internal/test/must"},
	"internal/command/budget":       {"internal/belayd", "internal/budget", "internal/clock", "internal/command", "internal/command/gates", "internal/config", "internal/message", "internal/overview", "internal/state", "internal/term"},
	"internal/command/belay":        {"internal/command", "internal/command/attach", "internal/command/batch", "internal/command/budget", "internal/command/completion", "internal/command/config", "internal/command/doctor", "internal/command/explain", "internal/command/gates", "internal/command/handover", "internal/command/help", "internal/command/hook", "internal/command/limits", "internal/command/mcp", "internal/command/prices", "internal/command/profile", "internal/command/ps", "internal/command/run", "internal/command/shim", "internal/command/trees", "internal/command/uninstallall", "internal/detach", "internal/engine", "internal/message", "internal/stdio", "internal/supervise", "internal/term", "internal/version"},
	"internal/command/batch":        {"belaytype", "gate", "internal/agent", "internal/agent/generic", "internal/batch", "internal/batch/fleet", "internal/budget", "internal/command", "internal/config", "internal/detach", "internal/engine", "internal/fleetpipe", "internal/journal", "internal/label", "internal/message", "internal/overview", "internal/price", "internal/printable", "internal/profile", "internal/quota", "internal/redact", "internal/safefile", "internal/setup", "internal/state", "internal/stdio", "internal/supervise", "internal/term", "internal/worktree", "retry", "verdict"},
	"internal/command/attach":       {"belaytype", "internal/command", "internal/detach", "internal/engine", "internal/journal", "internal/message", "internal/printable", "internal/spool", "internal/state", "internal/stdio"},
}

// commandArrows are the arrows of a command's folder, internal/command/NAME, by what links it. No command knows another one: what several share,
// and a command that needs more, has a row in arrows.
var commandArrows = map[string][]string{
	"internal/command/belay": {"internal/command", "internal/config", "internal/label", "internal/message", "internal/overview", "internal/printable", "internal/profile", "internal/safefile", "internal/state", "internal/stdio",
		"internal/supervise", "internal/term", "internal/worktree"},
	"cmd/belayd": {"internal/actions", "internal/agent", "internal/agent/generic", "internal/agent/history", "internal/alert/delivery", "internal/atomicfile", "internal/belayd", "internal/belayd/request", "internal/certificate", "internal/command/question", "internal/command/signals", "internal/command/table",
		"internal/config", "internal/doctor", "internal/fleet/files", "internal/fleet/jobs", "internal/fleet/logs", "internal/fleet/member", "internal/fleet/status", "internal/fleet/store", "internal/journal", "internal/label",
		"internal/mcp", "internal/mcp/host", "internal/mcp/remote", "internal/message", "internal/overview", "internal/page", "internal/page/browser", "internal/page/view", "internal/printable", "internal/profile",
		"internal/record", "internal/record/database", "internal/redact", "internal/rehearse", "internal/rehearse/certify", "internal/rehearse/demo", "internal/rehearse/rehearsal", "internal/rehearse/scenario", "internal/safefile", "internal/state", "internal/stdio", "internal/supervise",
		"internal/telemetry", "internal/telemetry/metrics", "internal/term", "internal/top", "internal/top/local", "internal/version", "internal/when", "internal/worktree", "verdict"},
}

func isCommand(name string) bool {
	_, shared := arrows[name]
	return strings.HasPrefix(name, "internal/command/") && !shared
}

// linkedBy says what links each command.
func linkedBy(all []pkg) map[string]string {
	by := map[string]string{}
	for _, p := range all {
		name, _ := ours(p.ImportPath)
		if commandArrows[name] == nil {
			continue
		}
		for _, imported := range p.Imports {
			if to, ok := ours(imported); ok && isCommand(to) {
				by[to] = name
			}
		}
	}
	return by
}

// cliArrows are the arrows of a CLI's folder, internal/agent/NAME: it knows what an agent is, and no other CLI. Only the registry
// imports all of them.
var cliArrows = []string{"internal/agent", "internal/agent/history", "internal/clientfile", "internal/price", "internal/quota", "internal/safefile", "internal/supervise", "retry", "verdict"}

func isCLI(name string) bool {
	_, other := arrows[name]
	return strings.HasPrefix(name, "internal/agent/") && !other
}

// The belayd of make demo, which a new user builds first, is without the database: it is most of what there is to compile.
func TestArchitecture_DemoHasNoDatabase(t *testing.T) {
	for _, p := range list(t, "-tags", "norecord", "./cmd/belayd") {
		if len(p.Deps) == 0 {
			t.Error("nothing is known of what belayd is made of")
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "modernc.org/") || dep == "database/sql" {
				t.Errorf("it is made of %s", dep)
			}
		}
	}
}

// heavy must not be linked into belay: every call would pay for it.
var heavy = []string{"net/http", "database/sql", "modernc.org/", "github.com/modelcontextprotocol/", "crypto/tls",
	"go.opentelemetry.io/", "github.com/jackc/", "github.com/riverqueue/", "charm.land/"}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	os.Getenv("BELAY_TEST_BUILT") // another each time, so that go test does not keep a result that depends on what go list says
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...).Output()
	must.OK(t, err)
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
	gone := maps.Clone(arrows)
	defer func() {
		for name := range gone {
			t.Errorf("there is no package %q any more", name)
		}
	}()
	all := list(t, "./...")
	linked := linkedBy(all)
	for _, p := range all {
		name, _ := ours(p.ImportPath)
		delete(gone, name)
		allowed, known := arrows[name]
		switch {
		case isCLI(name):
			allowed, known = cliArrows, true
		case isCommand(name):
			if allowed, known = commandArrows[linked[name]]; !known {
				t.Errorf("no table links the command %q", name)
			}
			known = true
		}
		if !known {
			t.Errorf("package %q has no place in the architecture", name)
		}
		for _, imported := range p.Imports {
			if to, ok := ours(imported); ok && !slices.Contains(allowed, to) && !(name == "internal/profile" && isCLI(to)) && linked[to] != name {
				t.Errorf("%q must not import %q", name, to)
			}
			if imported == "os/exec" && name != "internal/supervise/executable" && name != "internal/built" && name != "internal/e2e/stage" && name != "scripts/unit" && name != "scripts/arrows" && name != "internal/fleet/fleettest" { // which are part of tests
				t.Errorf("%q must not start processes: only supervise does", name)
			}
		}
	}
}

// starters are the functions that start a process, or become another program.
var starters = []string{"os.StartProcess", "syscall.ForkExec", "syscall.StartProcess", "syscall.Exec", "unix.Exec", "windows.CreateProcess"}

// Who starts a process past package os/exec is supervise too, or hands the process that it is over to belayd.
func TestArchitecture_OnlySuperviseStartsProcesses(t *testing.T) {
	eachFile(t, func(name string, file *ast.File) {
		if strings.HasPrefix(name, "internal/supervise/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if called, ok := n.(*ast.SelectorExpr); ok {
				of, _ := called.X.(*ast.Ident)
				handsOver := name == "internal/command/process_unix.go" && called.Sel.Name == "Exec"
				if of != nil && slices.Contains(starters, of.Name+"."+called.Sel.Name) && !handsOver {
					t.Errorf("%s uses %s.%s: only supervise starts processes", name, of.Name, called.Sel.Name)
				}
			}
			return true
		})
	})
}

// What a program imports of Belay is as light: the record that it writes is lines of the log, which belayd folds.
func TestArchitecture_BelayLinksNothingHeavy(t *testing.T) {
	for _, p := range list(t, "./cmd/belay", ".", "./boundary", "./retry") {
		for _, dep := range p.Deps {
			for _, h := range heavy {
				if dep == strings.TrimSuffix(h, "/") || strings.HasPrefix(dep, h) && strings.HasSuffix(h, "/") {
					t.Errorf("%s links %s", p.ImportPath, dep)
				}
			}
		}
	}
}

// testSupport are directories with programs and packages for tests, examples and measurements.
var testSupport = []string{"bench", "browser", "examples", "internal/agent/agenttest", "internal/built", "internal/clitest", "internal/command/commandtest", "internal/fleet/fleettest", "internal/e2e",
	"internal/faulttest", "internal/gatetest", "internal/term/tabletest", "internal/term/termtest", "scripts", "tools"}

// opens are the places that open files without package safefile, and why.
var opens = map[string]string{
	"internal/safefile/open_unix.go":          "it is the package",
	"internal/safefile/own.go":                "it is the package",
	"internal/batch/tasks/filesource.go":      "the tasks, which the user names",
	"internal/batch/tasks/files.go":           "the tasks, which the user names",
	"internal/batch/tasks/spool.go":           "a pipe with tasks, which the user names",
	"internal/batch/ledger.go":                "the results, which the user names",
	"internal/batch/open.go":                  "the results, which the user names",
	"internal/command/batch/output.go":        "a file for each output, in a directory that the user names",
	"internal/command/batch/memory_linux.go":  "the kernel's files below /proc",
	"internal/fleetpipe/texts.go":             "a text of a result, in a file without a name",
	"internal/clock/clock.go":                 "the clock of an executable for tests",
	"internal/actions/append.go":              "files that the user names, or the runner of a GitHub job",
	"internal/command/run/prompt.go":          "the prompt file, which the user names",
	"internal/command/explain/explain.go":     "evidence that the user names",
	"internal/command/profile/check.go":       "saved outcomes that the user names",
	"internal/command/run/resultfile.go":      "the result file, which the user names",
	"internal/command/run/resultfile_unix.go": "the result file, which the user names",
	"internal/command/rehearse/rehearse.go":   "the script and report of a rehearsal, which the user names",
	"internal/certificate/certificate.go":     "an executable that is to be run",
	"internal/command/rehearse/certify.go":    "the report that the user names",
	"internal/command/rehearse/test.go":       "a report that the user names, and scenarios that are made and never replaced",
	"internal/rehearse/":                      "homes of a rehearsal, in a directory that was just made",
	"internal/state/sweep.go":                 "the directory of temporary files, which all users share",
	"internal/shim/startable_unix.go":         "the CLI that is about to be started",

	"internal/supervise/detach/detach.go":             "the null device",
	"internal/supervise/detach/launch.go":             "the null device",
	"internal/supervise/stream/streams.go":            "the null device",
	"internal/supervise/terminal/terminal_unix.go":    "the terminal",
	"internal/supervise/proctable/table_linux.go":     "the kernel's files below /proc",
	"internal/supervise/proctable/boot_linux.go":      "the kernel's files below /proc",
	"internal/supervise/memory_linux.go":              "the kernel's files below /proc",
	"internal/supervise/daemon_unix.go":               "the kernel's files below /proc",
	"internal/supervise/proctable/limitmark_linux.go": "the kernel's files below /proc",
}

// Every other file is opened by package safefile, which does not trust what is at its path: no link, no pipe and no file of
// another user.
func TestArchitecture_FilesAreOpenedSafely(t *testing.T) {
	for prefix := range opens {
		if found, _ := filepath.Glob(prefix + "*"); len(found) == 0 {
			t.Errorf("there is no %s any more", prefix)
		}
	}
	unsafe := []string{"Open", "OpenFile", "OpenInRoot", "Create", "WriteFile", "ReadFile", "ReadDir"}
	eachFile(t, func(name string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := call.X.(*ast.Ident)
			if ok && of.Name == "os" && slices.Contains(unsafe, call.Sel.Name) && !explained(name) {
				t.Errorf("%s uses os.%s: use package safefile, or say in opens why it need not", name, call.Sel.Name)
			}
			return true
		})
	})
}

// eachFile calls a function for each file of the product.
func eachFile(t *testing.T, each func(name string, file *ast.File)) {
	t.Helper()
	files, err := productFiles()
	must.OK(t, err)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		each(name, files[name])
	}
}

// productFiles are the files of the product, parsed once for all tests.
var productFiles = sync.OnceValues(func() (map[string]*ast.File, error) {
	files := map[string]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(path)
		switch {
		case d.IsDir() && (strings.HasPrefix(name, ".") && name != "." || slices.Contains(testSupport, name)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		files[name], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		return err
	})
	return files, err
})

func explained(name string) bool {
	for prefix := range opens {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
