package gh

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// usageRules are asked first: gh says how it is used after a mistake, and that text may hold any word. What is known by how
// it begins stands here too.
var usageRules = agent.Rules{Table: usageTable}

// rules tell failures apart by what gh, Go and git say of them. They are asked about gh's own words on stderr, never about
// what GitHub sent, and after what GitHub has answered (see frames).
var rules = agent.Rules{Table: ruleTable}

var usageTable = []verdict.Rule{
	{Name: "panic", Class: verdict.Crash, Match: `^(panic: |fatal error: |SIGSEGV: )`},
	{Name: "usage", Class: verdict.InvalidRequest, Match: `^(unknown (flag|shorthand flag|command)|flag needs an argument|invalid argument |required flag\(s\)|accepts (at most |at least |between )?\d+ arg|requires at least|too many arguments|unknown argument|bad flag syntax|unknown JSON field|specify one or more comma-separated fields|failed to parse jq expression)`},
	{Name: "timeout", Class: verdict.Timeout, Match: `^gh: (\w+ )?(timeout|timed out)\.?$`},
	{Name: "workflow-token", Class: verdict.Auth, Match: `^gh: To use GitHub CLI in `},
	{Name: "usage-shown", Class: verdict.InvalidRequest, Match: `^Usage:  gh `},
}

var ruleTable = []verdict.Rule{
	// The connection to GitHub: nothing was sent, or that is not known.
	{Name: "certificate", Class: verdict.InvalidRequest, Match: `x509: |tls: failed to verify certificate|SSL certificate problem|server certificate verification failed`},
	{Name: "proxy-refused", Class: verdict.Auth, Match: `^\w+ "[^"]*": (proxy authentication required|forbidden|unauthorized)$`},
	{Name: "proxy-failed", Class: verdict.ServerError, Match: `^\w+ "[^"]*": (bad gateway|service unavailable|gateway time-?out|internal server error)$`},
	{Name: "dns", Class: verdict.Network, Match: `^error connecting to |no such host|server misbehaving|temporary failure in name resolution|could not resolve host`},
	{Name: "refused", Class: verdict.Network, Match: `connection refused|proxyconnect tcp`},
	{Name: "dial", Class: verdict.Network, Match: `\bdial (tcp|udp|unix)\b|network is unreachable|no route to host`},
	{Name: "reset", Class: verdict.Network, Match: `connection reset by peer|broken pipe|connection timed out|use of closed network connection|forcibly closed by the remote host|connection was aborted`},
	{Name: "cut", Class: verdict.Network, Match: `\bunexpected EOF\b|\bEOF\s*$|transport connection broken|malformed HTTP response|server closed idle connection|http2: |stream error: stream ID|bad record MAC`},
	{Name: "timed-out", Class: verdict.Timeout, Match: `TLS handshake timeout|timeout awaiting response headers|context deadline exceeded|Client\.Timeout exceeded|i/o timeout|request canceled`},
	{Name: "git-network", Class: verdict.Network, Match: `^(fatal: )?(unable to access|the remote end hung up unexpectedly|early EOF|ssh: connect to host|unable to look up)|RPC failed;`},

	// What came is not what should have come.
	{Name: "no-json", Class: verdict.BadOutput, Match: `unexpected end of JSON input|invalid character .* (looking for|after|in string|in literal)|cannot unmarshal`},

	// What is wrong before anything is sent.
	{Name: "no-repository", Class: verdict.InvalidRequest, Match: `not a git repository|none of the git remotes configured|expected the "\[HOST/\]OWNER/REPO" format|no default remote repository|git executable not found|unable to find git executable|detected dubious ownership|not on any branch`},

	// Credentials.
	{Name: "login", Class: verdict.Auth, Match: `gh auth login|gh auth refresh|not logged in(to| to)|authentication required|no oauth token|authentication token not found`},
	{Name: "token", Class: verdict.Auth, Match: `token in \S+ is invalid|token .* is no longer valid|missing required scope|your authentication token is missing required scopes|failed to log in to `},
	{Name: "git-auth", Class: verdict.Auth, Match: `authentication failed for|permission denied \(publickey|could not read (username|password)|host key verification failed|permission to .* denied`},

	// What is not there.
	{Name: "not-found", Class: verdict.NotFound, Match: `^(no (open )?pull requests? found|no open pull requests|release not found|could not find|no (runs|workflows?|caches?|artifacts?|issues?|secrets?|gists?|labels?|rulesets?|codespaces?) (found|match)|no valid artifacts found|no matches? found|unable to find|run .* not found)|^.*: (not found|no such (label|milestone).*)$|repository not found|no git(hub)? remotes found|no commit found on|no (required )?checks reported`},
	{Name: "no-such", Class: verdict.NotFound, Match: `(\b(template|asset|project|label|milestone|branch)( [^ ]+)?|'[^']+') not found\b|^no (assets|artifact)s? match`},

	// What is wrong with the command.
	{Name: "prompt", Class: verdict.InvalidRequest, Match: "when not running interactively|in non-interactive mode|required when not running|^(specify only one of|must provide|cannot use|must specify|invalid value for|flags required|argument required|`?--[\\w-]+`? )|^error parsing"},
	{Name: "file-size", Class: verdict.TooLarge, Match: `exceeds GitHub's file size limit|\bGH001: `},
	{Name: "pull-request", Class: verdict.InvalidRequest, Match: `a pull request for branch .* already exists|no commits between|must first push the current branch|could not compute title or body|is not mergeable|has disabled issues|uncommitted change`},
	{Name: "state", Class: verdict.InvalidRequest, Match: `already exists( and is not an empty directory|:)|failed to push some refs|is still in progress; logs will be|cannot be rerun`},
	{Name: "file", Class: verdict.InvalidRequest, Match: `no such file or directory|is a directory$|permission denied$`},

	// git says so whatever it was.
	{Name: "git-remote", Class: verdict.Network, Match: `could not read from remote repository`},
}
