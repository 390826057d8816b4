package gh

import "sync"

// commandTraits are what is known of a command.
type commandTraits uint

const (
	// changes something on GitHub.
	changes commandTraits = 1 << iota
	// once means that one request at most changes something, and that none comes after it. See line.once.
	once
	// short means that it is one or two short requests, or none.
	short
	// terminal means that it wants a terminal, an editor or a browser.
	terminal
	// untraced means that the trace must be off: it reads whole uploads into memory, or the command's stderr is not gh's
	// alone.
	untraced

	oneChange = changes | once
)

// The tables are made when they are first asked for: belay starts for other commands too.

// commands are all that gh 2.100 has. One that is missing is an extension or an alias.
var commands = sync.OnceValue(func() map[string]commandTraits {
	return map[string]commandTraits{
		"api": 0, // see line.changes and line.short

		"agent-task create": changes | untraced,
		"agent-task list":   short,
		"agent-task view":   untraced,

		"alias delete": short, "alias import": short, "alias list": short, "alias set": short,

		"attestation download": untraced, "attestation trusted-root": untraced, "attestation verify": untraced,

		"auth login": changes | terminal, "auth logout": terminal, "auth refresh": terminal, "auth setup-git": short,
		"auth status": short, "auth switch": terminal, "auth token": short,

		"browse": terminal,

		"cache delete": oneChange, "cache list": short,

		"codespace code": terminal, "codespace cp": changes | terminal, "codespace create": changes | terminal, "codespace delete": changes | untraced,
		"codespace edit": changes | untraced, "codespace jupyter": terminal, "codespace list": untraced, "codespace logs": terminal,
		"codespace ports": changes | terminal, "codespace rebuild": changes | terminal, "codespace ssh": changes | terminal, "codespace stop": changes | untraced,
		"codespace view": untraced,

		"completion": short, "config clear-cache": short, "config get": short, "config list": short, "config set": short,
		"copilot": changes | terminal | untraced,

		"discussion comment": oneChange | short, "discussion create": oneChange | short, "discussion edit": changes | short,
		"discussion list": short, "discussion view": short,

		"extension browse": terminal, "extension create": untraced, "extension exec": changes | terminal | untraced,
		"extension install": untraced, "extension list": short, "extension remove": short, "extension search": short,
		"extension upgrade": untraced,

		"gist clone": 0, "gist create": oneChange, "gist delete": oneChange | short, "gist edit": changes, "gist list": short,
		"gist rename": oneChange | short, "gist view": short,

		"gpg-key add": oneChange | short, "gpg-key delete": oneChange | short, "gpg-key list": short,

		"issue close": oneChange | short, "issue comment": oneChange | short, "issue create": oneChange | short,
		"issue delete": oneChange | short, "issue develop": changes, "issue edit": changes, "issue list": short,
		"issue lock": changes | short, "issue pin": oneChange | short, "issue reopen": oneChange | short, "issue status": short,
		"issue transfer": oneChange | short, "issue unlock": oneChange | short, "issue unpin": oneChange | short, "issue view": short,

		"label clone": changes, "label create": oneChange | short, "label delete": oneChange | short, "label edit": oneChange | short,
		"label list": short,

		"licenses": short, "org list": short,

		"pr checkout": 0, "pr checks": short, "pr close": oneChange, "pr comment": oneChange | short, "pr create": changes,
		"pr diff": 0, "pr edit": changes, "pr list": short, "pr lock": changes | short, "pr merge": oneChange, "pr ready": oneChange | short,
		"pr reopen": oneChange | short, "pr revert": oneChange | short, "pr review": oneChange | short, "pr status": short,
		"pr unlock": oneChange | short, "pr update-branch": oneChange, "pr view": short,

		"preview prompter": terminal,

		"project close": oneChange | short, "project copy": oneChange, "project create": oneChange | short, "project delete": oneChange | short,
		"project edit": oneChange | short, "project field-create": oneChange | short, "project field-delete": oneChange | short,
		"project field-list": short, "project item-add": oneChange | short, "project item-archive": oneChange | short,
		"project item-create": oneChange | short, "project item-delete": oneChange | short, "project item-edit": oneChange | short,
		"project item-list": 0, "project link": oneChange | short, "project list": short, "project mark-template": oneChange | short,
		"project unlink": oneChange | short, "project view": short,

		"release create": oneChange | untraced, "release delete": oneChange, "release delete-asset": oneChange | short,
		"release download": 0, "release edit": oneChange | short, "release list": short, "release upload": oneChange | untraced,
		"release verify": untraced, "release verify-asset": untraced, "release view": short,

		"repo archive": oneChange | short, "repo autolink create": oneChange | short, "repo autolink delete": oneChange | short,
		"repo autolink list": short, "repo autolink view": short, "repo clone": 0, "repo create": changes, "repo delete": oneChange | short,
		"repo deploy-key add": oneChange | short, "repo deploy-key delete": oneChange | short, "repo deploy-key list": short,
		"repo edit": changes | short, "repo fork": changes, "repo gitignore list": short, "repo gitignore view": short,
		"repo license list": short, "repo license view": short, "repo list": short, "repo read-dir": short, "repo read-file": 0,
		"repo rename": changes | short, "repo set-default": short, "repo sync": changes, "repo unarchive": oneChange | short, "repo view": short,

		"ruleset check": short, "ruleset list": short, "ruleset view": short,

		"run cancel": oneChange | short, "run delete": oneChange | short, "run download": 0, "run list": short, "run rerun": oneChange | short,
		"run view": 0, "run watch": 0,

		"search code": short, "search commits": short, "search issues": short, "search prs": short, "search repos": short,

		"secret delete": oneChange | short, "secret list": short, "secret set": oneChange | short,

		"skill install": untraced, "skill list": untraced, "skill preview": terminal, "skill publish": changes | untraced,
		"skill search": untraced, "skill update": untraced,

		"ssh-key add": oneChange | short, "ssh-key delete": oneChange | short, "ssh-key list": short,

		"status": 0,

		"variable delete": oneChange | short, "variable get": short, "variable list": short, "variable set": changes | short,

		"workflow disable": oneChange | short, "workflow enable": oneChange | short, "workflow list": short, "workflow run": oneChange | short,
		"workflow view": short,

		"help": short, "version": short,
	}
})

// synonyms are other names for a word of a command.
var synonyms = map[string]string{
	"new": "create", "ls": "list", "cs": "codespace", "ext": "extension", "extensions": "extension", "rs": "ruleset",
	"at": "attestation", "agent": "agent-task", "agents": "agent-task", "agent-tasks": "agent-task", "skills": "skill",
}

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
