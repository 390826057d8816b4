package gh

import "sync"

// noPrompts says which options a command needs so that it asks nothing: one of each row.
var noPrompts = sync.OnceValue(func() map[string][][]string {
	return map[string][][]string{
		"issue create":      {{"--title", "-t"}, {"--body", "-b", "--body-file", "-F"}},
		"issue comment":     {{"--body", "-b", "--body-file", "-F", "--attach", "--yes"}},
		"issue delete":      {{"--yes"}},
		"pr create":         {{"--title", "-t", "--fill", "-f", "--fill-first", "--fill-verbose"}, {"--body", "-b", "--body-file", "-F", "--fill", "-f", "--fill-first", "--fill-verbose"}},
		"pr comment":        {{"--body", "-b", "--body-file", "-F", "--attach", "--yes"}},
		"pr merge":          {{"--merge", "-m", "--squash", "-s", "--rebase", "-r", "--disable-auto"}},
		"pr review":         {{"--approve", "-a", "--comment", "-c", "--request-changes", "-r"}},
		"discussion create": {{"--title", "-t"}, {"--body", "-b", "--body-file", "-F"}},
		"gist delete":       {{"--yes"}},
		"label delete":      {{"--yes"}},
		"release create":    {{"--notes", "-n", "--notes-file", "-F", "--generate-notes", "--notes-from-tag"}},
		"release delete":    {{"--yes", "-y"}},
		"repo create":       {{"--public", "--private", "--internal"}},
		"repo delete":       {{"--yes", "--confirm"}},
		"repo archive":      {{"--yes", "-y", "--confirm"}},
		"repo unarchive":    {{"--yes", "-y", "--confirm"}},
		"repo rename":       {{"--yes", "-y", "--confirm"}},
		"repo fork":         {{"--clone", "--remote"}},
		"gist edit":         {{"--add", "-a", "--remove", "-r", "--desc", "-d"}},
		"secret set":        {{"--body", "-b", "--env-file", "-f"}},
		"variable set":      {{"--body", "-b", "--env-file", "-f"}},
		"skill publish":     {{"--dry-run", "--fix"}},
	}
})

// asksWhich are commands that ask which one is meant if neither a word nor one of these options says so.
var asksWhich = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"gist delete": nil, "gist edit": nil, "gist view": nil, "issue edit": nil, "label edit": nil,
		"pr checkout": nil, "pr edit": nil, "release create": nil, "repo create": nil, "repo rename": nil,
		"run cancel": nil, "run delete": nil, "run download": {"--name", "-n", "--pattern", "-p"}, "run rerun": {"--job", "-j"},
		"run view": {"--job", "-j"}, "run watch": nil, "secret set": {"--env-file", "-f"},
		"workflow disable": nil, "workflow enable": nil, "workflow run": nil, "workflow view": nil,
	}
})

// asksWhat are commands that ask what to change if no option says so.
var asksWhat = []string{"issue edit", "pr edit", "repo edit", "discussion edit"}

// longOptions are options that make a short command long.
var longOptions = map[string][]string{
	"pr checks": {"--watch"},
	"run view":  {"--log", "--log-failed"},
}
