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

// commands are all that gh 2.100 has, its help topics and hidden commands included. One that is missing is an extension, an alias or
// newer, and may change anything. The table is made when it is first asked for: belay starts for other commands too.
var commands = sync.OnceValue(func() map[string]commandTraits {
	all := map[string]commandTraits{}
	for _, of := range []struct {
		traits   commandTraits
		commands string
	}{
		{reads | short, "accessibility, actions, agent-task list, alias delete|import|list|set, auth setup-git|status|token, " +
			"cache list, completion, config clear-cache|get|list|set, discussion list|view, environment, " +
			"exit-codes, extension list|remove|search, formatting, gist list|view, gpg-key list, help, " +
			"issue list|status|view, label list, licenses, mintty, org list, pr checks|list|status|view, " +
			"project field-list|list|view, reference, release list|view, repo autolink list|view, " +
			"repo deploy-key list, repo gitignore list|view, repo license list|view, " +
			"repo list|read-dir|set-default|view, ruleset check|list|view, run list, " +
			"search code|commits|issues|prs|repos, secret list, ssh-key list, telemetry, variable get|list, " +
			"version, workflow list|view"},
		{reads, "gist clone, pr checkout|diff, project item-list, release download, repo clone|read-file, " +
			"run download|view|watch, status"},
		{reads | untraced, "agent-task view, attestation download|inspect|trusted-root|verify, codespace list|view, " +
			"extension create|install|upgrade, release verify|verify-asset, skill install|list|search|update"},
		{reads | terminal, "auth logout|refresh|switch, browse, codespace select, credits, extension browse, preview prompter, " +
			"repo credits|garden, skill preview"},
		{once | short, "discussion comment|create, gist delete|rename, gpg-key add|delete, " +
			"issue close|comment|create|delete|pin|reopen|transfer|unlock|unpin, label create|delete|edit, " +
			"pr comment|ready|reopen|revert|review|unlock, " +
			"project close|create|delete|edit|field-create|field-delete|link|mark-template|unlink, " +
			"project item-add|item-archive|item-create|item-delete|item-edit, " +
			"release delete-asset|edit, repo archive|delete|unarchive, repo autolink create|delete, " +
			"repo deploy-key add|delete, run cancel|delete|rerun, secret delete|set, ssh-key add|delete, " +
			"variable delete, workflow disable|enable|run"},
		{once, "cache delete, gist create, pr close|merge|update-branch, project copy, release delete"},
		{once | untraced, "release create|upload"},
		{short, "discussion edit, issue lock, pr lock, repo edit|rename, variable set"},
		{untraced, "agent-task create, auth git-credential, codespace delete|edit|stop, skill publish"},
		{terminal, "auth login, codespace code|cp|create|jupyter|logs|ports|rebuild|ssh, " +
			"codespace ports forward|visibility"},
		{terminal | untraced | foreign, "copilot, extension exec"},
		{0, "api, gist edit, issue develop|edit, label clone, pr create|edit, repo create|fork|sync, " +
			"send-telemetry"}, // api: see line.changes and line.short
	} {
		for command := range strings.SplitSeq(of.commands, ", ") {
			group := command[:strings.LastIndexByte(command, ' ')+1]
			for name := range strings.SplitSeq(command[len(group):], "|") {
				all[group+name] = of.traits
			}
		}
	}
	return all
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
