package gh

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of gh.
var Descriptor = agent.Descriptor{
	Name:            Name,
	New:             func(args, env []string, dir string) agent.Profile { return New(args, env, dir) },
	Preset:          retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Plus(time.Second)},
	BreakerFailures: BreakerFailures,
	Tested:          agent.Tested{"2.100.0"},
	Install: []agent.Install{
		{With: "brew", Command: "brew install gh"},
		{With: "apt-get", Command: "sudo apt-get install gh"},
		{With: "dnf", Command: "sudo dnf install gh"},
		{With: "pacman", Command: "sudo pacman -S github-cli"},
		{With: "apk", Command: "sudo apk add github-cli"},
		{With: "winget", Command: "winget install GitHub.cli"},
		{Command: "see https://cli.github.com"},
	},
	Login: agent.Login{Command: "gh auth login", Variables: []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"},
		Ask: []string{"auth", "token"}, None: "no token found"},
	Rehearsal: agent.Rehearsal{Vendor: "github", Ask: []string{"api", "user"}},
}

// request is what the trace says of one request.
type request struct {
	method, url string
	began       time.Time
	took        time.Duration
	ended       bool
	kind, name  string // of the GraphQL operation
	changes     bool
	cacheable   bool   // gh keeps the answer on disk, and may have had it from there
	broke       string // why there was no answer
	cut         string // why the answer is not whole
	answer
}

// path is the path of the address, without its query: that may be private.
func (r *request) path() string {
	_, rest, _ := strings.Cut(r.url, "://")
	_, path, _ := strings.Cut(rest, "/")
	path, _, _ = strings.Cut(path, "?")
	return "/" + path
}

func (r *request) graphql() bool { p := r.path(); return p == "/graphql" || p == "/api/graphql" }

// options are those of gh 2.100, of the commands whose options matter to us. An option goes by its first name.
var options = sync.OnceValue(func() map[string]agent.Table {
	api := agent.Options(agent.OwnMeaning, "--method, -X V", "--field, -F V", "--raw-field, -f V", "--input V",
		"--header, -H V", "--preview, -p V", "--hostname V", "--cache V", "--jq, -q V", "--template, -t V",
		"--include, -i", "--paginate", "--slurp", "--silent", "--verbose", "--allow-escape-sequences",
		"--help, -h")
	issue := agent.Options(agent.OwnMeaning, "--title, -t V", "--body, -b V", "--body-file, -F V", "--repo, -R V",
		"--assignee, -a V", "--attach V", "--blocked-by V", "--blocking V", "--label, -l V", "--milestone, -m V",
		"--parent V", "--project, -p V", "--recover V", "--template, -T V", "--type V", "--editor, -e",
		"--web, -w", "--help")
	pr := agent.Options(agent.OwnMeaning, "--base, -B V", "--head, -H V", "--reviewer, -r V", "--draft, -d", "--dry-run",
		"--fill, -f", "--fill-first", "--fill-verbose", "--no-maintainer-edit")
	comment := agent.Options(agent.OwnMeaning, "--body, -b V", "--body-file, -F V", "--repo, -R V", "--attach V",
		"--create-if-none", "--delete-last", "--edit-last", "--editor, -e", "--web, -w", "--yes", "--help")
	release := agent.Options(agent.OwnMeaning, "--title, -t V", "--notes, -n V", "--notes-file, -F V", "--notes-start-tag V",
		"--target V", "--discussion-category V", "--repo, -R V", "--draft, -d", "--prerelease, -p",
		"--generate-notes", "--notes-from-tag", "--latest", "--verify-tag", "--fail-on-no-commits", "--help")
	return map[string]agent.Table{
		"api":            api,
		"issue create":   issue,
		"pr create":      slices.Concat(pr, issue),
		"issue comment":  comment,
		"pr comment":     comment,
		"release create": release,
	}
})
