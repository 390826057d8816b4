package gh

import (
	"strings"
	"sync"
)

// commandTraits are what is known of a command. A command without [reads] changes something.
type commandTraits uint

const (
	// reads means that it changes nothing on GitHub. What it writes on this machine it writes again when it is repeated.
	reads commandTraits = 1 << iota
	// once means that one request at most changes something, and that none comes after it. See line.once.
	once
	// short means that it is one or two short requests, or none.
	short
	// terminal means that it wants a terminal, an editor or a browser.
	terminal
	// untraced means that the trace must be off: it reads whole uploads into memory, or the command's stderr is not gh's
	// alone.
	untraced
	// foreign means that what follows is the command line of another program, --help included.
	foreign
)

// The tables are made when they are first asked for: belay starts for other commands too.

// commands are all that gh 2.100 has, its help topics and hidden commands included. One that is missing is an extension, an alias or
// newer, and may change anything.
var commands = sync.OnceValue(func() map[string]commandTraits {
	return map[string]commandTraits{
		"accessibility": reads | short,
		"actions":       reads | short,

		"agent-task create": untraced,
		"agent-task list":   reads | short,
		"agent-task view":   reads | untraced,

		"alias delete": reads | short,
		"alias import": reads | short,
		"alias list":   reads | short,
		"alias set":    reads | short,

		"api": 0, // see line.changes and line.short

		"attestation download":     reads | untraced,
		"attestation inspect":      reads | untraced,
		"attestation trusted-root": reads | untraced,
		"attestation verify":       reads | untraced,

		"auth git-credential": untraced,
		"auth login":          terminal,
		"auth logout":         reads | terminal,
		"auth refresh":        reads | terminal,
		"auth setup-git":      reads | short,
		"auth status":         reads | short,
		"auth switch":         reads | terminal,
		"auth token":          reads | short,

		"browse": reads | terminal,

		"cache delete": once,
		"cache list":   reads | short,

		"codespace code":             terminal,
		"codespace cp":               terminal,
		"codespace create":           terminal,
		"codespace delete":           untraced,
		"codespace edit":             untraced,
		"codespace jupyter":          terminal,
		"codespace list":             reads | untraced,
		"codespace logs":             terminal,
		"codespace ports":            terminal,
		"codespace ports forward":    terminal,
		"codespace ports visibility": terminal,
		"codespace rebuild":          terminal,
		"codespace select":           reads | terminal,
		"codespace ssh":              terminal,
		"codespace stop":             untraced,
		"codespace view":             reads | untraced,

		"completion": reads | short,

		"config clear-cache": reads | short,
		"config get":         reads | short,
		"config list":        reads | short,
		"config set":         reads | short,

		"copilot": terminal | untraced | foreign,
		"credits": reads | terminal,

		"discussion comment": once | short,
		"discussion create":  once | short,
		"discussion edit":    short,
		"discussion list":    reads | short,
		"discussion view":    reads | short,

		"environment": reads | short,
		"exit-codes":  reads | short,

		"extension browse":  reads | terminal,
		"extension create":  reads | untraced,
		"extension exec":    terminal | untraced | foreign,
		"extension install": reads | untraced,
		"extension list":    reads | short,
		"extension remove":  reads | short,
		"extension search":  reads | short,
		"extension upgrade": reads | untraced,

		"formatting": reads | short,

		"gist clone":  reads,
		"gist create": once,
		"gist delete": once | short,
		"gist edit":   0,
		"gist list":   reads | short,
		"gist rename": once | short,
		"gist view":   reads | short,

		"gpg-key add":    once | short,
		"gpg-key delete": once | short,
		"gpg-key list":   reads | short,

		"help": reads | short,

		"issue close":    once | short,
		"issue comment":  once | short,
		"issue create":   once | short,
		"issue delete":   once | short,
		"issue develop":  0,
		"issue edit":     0,
		"issue list":     reads | short,
		"issue lock":     short,
		"issue pin":      once | short,
		"issue reopen":   once | short,
		"issue status":   reads | short,
		"issue transfer": once | short,
		"issue unlock":   once | short,
		"issue unpin":    once | short,
		"issue view":     reads | short,

		"label clone":  0,
		"label create": once | short,
		"label delete": once | short,
		"label edit":   once | short,
		"label list":   reads | short,

		"licenses": reads | short,
		"mintty":   reads | short,

		"org list": reads | short,

		"pr checkout":      reads,
		"pr checks":        reads | short,
		"pr close":         once,
		"pr comment":       once | short,
		"pr create":        0,
		"pr diff":          reads,
		"pr edit":          0,
		"pr list":          reads | short,
		"pr lock":          short,
		"pr merge":         once,
		"pr ready":         once | short,
		"pr reopen":        once | short,
		"pr revert":        once | short,
		"pr review":        once | short,
		"pr status":        reads | short,
		"pr unlock":        once | short,
		"pr update-branch": once,
		"pr view":          reads | short,

		"preview prompter": reads | terminal,

		"project close":         once | short,
		"project copy":          once,
		"project create":        once | short,
		"project delete":        once | short,
		"project edit":          once | short,
		"project field-create":  once | short,
		"project field-delete":  once | short,
		"project field-list":    reads | short,
		"project item-add":      once | short,
		"project item-archive":  once | short,
		"project item-create":   once | short,
		"project item-delete":   once | short,
		"project item-edit":     once | short,
		"project item-list":     reads,
		"project link":          once | short,
		"project list":          reads | short,
		"project mark-template": once | short,
		"project unlink":        once | short,
		"project view":          reads | short,

		"reference": reads | short,

		"release create":       once | untraced,
		"release delete":       once,
		"release delete-asset": once | short,
		"release download":     reads,
		"release edit":         once | short,
		"release list":         reads | short,
		"release upload":       once | untraced,
		"release verify":       reads | untraced,
		"release verify-asset": reads | untraced,
		"release view":         reads | short,

		"repo archive":           once | short,
		"repo autolink create":   once | short,
		"repo autolink delete":   once | short,
		"repo autolink list":     reads | short,
		"repo autolink view":     reads | short,
		"repo clone":             reads,
		"repo create":            0,
		"repo credits":           reads | terminal,
		"repo delete":            once | short,
		"repo deploy-key add":    once | short,
		"repo deploy-key delete": once | short,
		"repo deploy-key list":   reads | short,
		"repo edit":              short,
		"repo fork":              0,
		"repo garden":            reads | terminal,
		"repo gitignore list":    reads | short,
		"repo gitignore view":    reads | short,
		"repo license list":      reads | short,
		"repo license view":      reads | short,
		"repo list":              reads | short,
		"repo read-dir":          reads | short,
		"repo read-file":         reads,
		"repo rename":            short,
		"repo set-default":       reads | short,
		"repo sync":              0,
		"repo unarchive":         once | short,
		"repo view":              reads | short,

		"ruleset check": reads | short,
		"ruleset list":  reads | short,
		"ruleset view":  reads | short,

		"run cancel":   once | short,
		"run delete":   once | short,
		"run download": reads,
		"run list":     reads | short,
		"run rerun":    once | short,
		"run view":     reads,
		"run watch":    reads,

		"search code":    reads | short,
		"search commits": reads | short,
		"search issues":  reads | short,
		"search prs":     reads | short,
		"search repos":   reads | short,

		"secret delete": once | short,
		"secret list":   reads | short,
		"secret set":    once | short,

		"send-telemetry": 0,

		"skill install": reads | untraced,
		"skill list":    reads | untraced,
		"skill preview": reads | terminal,
		"skill publish": untraced,
		"skill search":  reads | untraced,
		"skill update":  reads | untraced,

		"ssh-key add":    once | short,
		"ssh-key delete": once | short,
		"ssh-key list":   reads | short,

		"status":    reads,
		"telemetry": reads | short,

		"variable delete": once | short,
		"variable get":    reads | short,
		"variable list":   reads | short,
		"variable set":    short,

		"version": reads | short,

		"workflow disable": once | short,
		"workflow enable":  once | short,
		"workflow list":    reads | short,
		"workflow run":     once | short,
		"workflow view":    reads | short,
	}
})

// isGroup reports whether this is the first part of commands: repo, repo autolink.
func isGroup(name string) bool {
	for command := range commands() {
		if strings.HasPrefix(command, name+" ") {
			return true
		}
	}
	return false
}

// synonyms are other names for a word of a command, anywhere.
var synonyms = map[string]string{
	"new": "create", "ls": "list", "cs": "codespace", "ext": "extension", "extensions": "extension", "rs": "ruleset",
	"at": "attestation", "agent": "agent-task", "agents": "agent-task", "agent-tasks": "agent-task", "skills": "skill", "a11y": "accessibility",
}

// commandSynonyms are other names for a whole command.
var commandSynonyms = map[string]string{
	"extension uninstall": "extension remove",
	"pr co":               "pr checkout",
	"secret remove":       "secret delete",
	"skill add":           "skill install",
	"skill show":          "skill preview",
	"variable remove":     "variable delete",
}
