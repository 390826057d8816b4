package gh

import (
	"slices"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

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
