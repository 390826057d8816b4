package gh

import (
	"slices"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

// The option tables are those of gh 2.100, of the commands whose options matter to us. An option goes by its first name.

var apiOptions = agent.Table{
	{Names: []string{"--method", "-X"}, Takes: agent.One},
	{Names: []string{"--field", "-F"}, Takes: agent.One},
	{Names: []string{"--raw-field", "-f"}, Takes: agent.One},
	{Names: []string{"--input"}, Takes: agent.One},
	{Names: []string{"--header", "-H"}, Takes: agent.One},
	{Names: []string{"--preview", "-p"}, Takes: agent.One},
	{Names: []string{"--hostname"}, Takes: agent.One},
	{Names: []string{"--cache"}, Takes: agent.One},
	{Names: []string{"--jq", "-q"}, Takes: agent.One},
	{Names: []string{"--template", "-t"}, Takes: agent.One},
	{Names: []string{"--include", "-i"}},
	{Names: []string{"--paginate"}},
	{Names: []string{"--slurp"}},
	{Names: []string{"--silent"}},
	{Names: []string{"--verbose"}},
	{Names: []string{"--allow-escape-sequences"}},
	{Names: []string{"--help", "-h"}},
}

var issueCreateOptions = agent.Table{
	{Names: []string{"--title", "-t"}, Takes: agent.One},
	{Names: []string{"--body", "-b"}, Takes: agent.One},
	{Names: []string{"--body-file", "-F"}, Takes: agent.One},
	{Names: []string{"--repo", "-R"}, Takes: agent.One},
	{Names: []string{"--assignee", "-a"}, Takes: agent.One},
	{Names: []string{"--attach"}, Takes: agent.One},
	{Names: []string{"--blocked-by"}, Takes: agent.One},
	{Names: []string{"--blocking"}, Takes: agent.One},
	{Names: []string{"--label", "-l"}, Takes: agent.One},
	{Names: []string{"--milestone", "-m"}, Takes: agent.One},
	{Names: []string{"--parent"}, Takes: agent.One},
	{Names: []string{"--project", "-p"}, Takes: agent.One},
	{Names: []string{"--recover"}, Takes: agent.One},
	{Names: []string{"--template", "-T"}, Takes: agent.One},
	{Names: []string{"--type"}, Takes: agent.One},
	{Names: []string{"--editor", "-e"}},
	{Names: []string{"--web", "-w"}},
	{Names: []string{"--help"}},
}

// prCreateOptions are those that it has beside the ones of an issue.
var prCreateOptions = agent.Table{
	{Names: []string{"--base", "-B"}, Takes: agent.One},
	{Names: []string{"--head", "-H"}, Takes: agent.One},
	{Names: []string{"--reviewer", "-r"}, Takes: agent.One},
	{Names: []string{"--draft", "-d"}},
	{Names: []string{"--dry-run"}},
	{Names: []string{"--fill", "-f"}},
	{Names: []string{"--fill-first"}},
	{Names: []string{"--fill-verbose"}},
	{Names: []string{"--no-maintainer-edit"}},
}

var commentOptions = agent.Table{
	{Names: []string{"--body", "-b"}, Takes: agent.One},
	{Names: []string{"--body-file", "-F"}, Takes: agent.One},
	{Names: []string{"--repo", "-R"}, Takes: agent.One},
	{Names: []string{"--attach"}, Takes: agent.One},
	{Names: []string{"--create-if-none"}},
	{Names: []string{"--delete-last"}},
	{Names: []string{"--edit-last"}},
	{Names: []string{"--editor", "-e"}},
	{Names: []string{"--web", "-w"}},
	{Names: []string{"--yes"}},
	{Names: []string{"--help"}},
}

var releaseCreateOptions = agent.Table{
	{Names: []string{"--title", "-t"}, Takes: agent.One},
	{Names: []string{"--notes", "-n"}, Takes: agent.One},
	{Names: []string{"--notes-file", "-F"}, Takes: agent.One},
	{Names: []string{"--notes-start-tag"}, Takes: agent.One},
	{Names: []string{"--target"}, Takes: agent.One},
	{Names: []string{"--discussion-category"}, Takes: agent.One},
	{Names: []string{"--repo", "-R"}, Takes: agent.One},
	{Names: []string{"--draft", "-d"}},
	{Names: []string{"--prerelease", "-p"}},
	{Names: []string{"--generate-notes"}},
	{Names: []string{"--notes-from-tag"}},
	{Names: []string{"--latest"}},
	{Names: []string{"--verify-tag"}},
	{Names: []string{"--fail-on-no-commits"}},
	{Names: []string{"--help"}},
}

var options = sync.OnceValue(func() map[string]agent.Table {
	return map[string]agent.Table{
		"api":            apiOptions,
		"issue create":   issueCreateOptions,
		"pr create":      slices.Concat(prCreateOptions, issueCreateOptions),
		"issue comment":  commentOptions,
		"pr comment":     commentOptions,
		"release create": releaseCreateOptions,
	}
})
