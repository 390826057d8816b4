package gh

import (
	"bufio"
	"cmp"
	"io"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
)

const defaultHost = "github.com"

// gateKey is the key of the limits that a command falls under: GitHub counts for each account of each host.
func gateKey(l line, env []string, dir string) string {
	host := hostOf(l, env)
	return agent.GateKey(Name, host, account(host, env, dir))
}

// hostOf is the host that a command talks to, as far as the command line and the environment say. The remotes of a clone
// may say otherwise; then the calls still share a gate, under another name.
func hostOf(l line, env []string) string {
	if l.isAPI() {
		if host := l.opts.Value("--hostname"); host != "" {
			return agent.Host(host)
		}
	}
	for i, a := range l.rest {
		name, value, joined := strings.Cut(a, "=")
		if (name == "--repo" || name == "-R") && !joined && i+1 < len(l.rest) {
			value, joined = l.rest[i+1], true
		}
		if (name == "--repo" || name == "-R") && joined {
			if host := repoHost(value); host != "" {
				return host
			}
		} else if host := urlHost(a); host != "" && !l.isAPI() {
			return host
		}
	}
	if host := repoHost(agent.Getenv(env, "GH_REPO")); host != "" {
		return host
	}
	return cmp.Or(agent.Host(agent.Getenv(env, "GH_HOST")), defaultHost)
}

// repoHost is the host in [HOST/]OWNER/REPO or an address; empty if there is none.
func repoHost(repo string) string {
	if host := urlHost(repo); host != "" {
		return host
	}
	if parts := strings.Split(repo, "/"); len(parts) == 3 {
		return agent.Host(parts[0])
	}
	return ""
}

// urlHost is the host of https://host/path; empty if it is no such address.
func urlHost(address string) string {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return agent.Host(address)
	}
	return ""
}

// account is something that is the same for all commands that share the limits of a host: the token, or the place of the
// login. Only ever shown as a hash.
func account(host string, env []string, dir string) string {
	names := []string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}
	if host == defaultHost || strings.HasSuffix(host, ".ghe.com") || host == "github.localhost" {
		names = []string{"GH_TOKEN", "GITHUB_TOKEN"}
	}
	for _, name := range names {
		if token := agent.Getenv(env, name); token != "" {
			return token
		}
	}
	config := configDir(env)
	if config != "" && !filepath.IsAbs(config) {
		config = filepath.Join(dir, config)
	}
	return cmp.Or(storedToken(filepath.Join(config, "hosts.yml"), host), config)
}

func configDir(env []string) string {
	if dir := agent.Getenv(env, "GH_CONFIG_DIR"); dir != "" {
		return dir
	}
	if dir := agent.Getenv(env, "XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "gh")
	}
	if dir := agent.Getenv(env, "AppData"); dir != "" {
		return filepath.Join(dir, "GitHub CLI")
	}
	if home := agent.Getenv(env, "HOME"); home != "" {
		return filepath.Join(home, ".config", "gh")
	}
	return ""
}

// storedToken is the token of a host in gh's hosts.yml, or the user's name where the token is in a keyring:
//
//	github.com:
//	    users:
//	        octo:
//	            oauth_token: …
//	    oauth_token: …
//	    user: octo
func storedToken(path, host string) string {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var token, user string
	inside, indent := false, ""
	lines := bufio.NewScanner(io.LimitReader(f, 256<<10))
	for lines.Scan() {
		text := lines.Text()
		lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
		key, value, _ := strings.Cut(strings.TrimSpace(text), ":")
		if lead == "" {
			inside, indent = strings.Trim(key, `"'`) == host, ""
			continue
		}
		indent = cmp.Or(indent, lead)
		if !inside || lead != indent { // what lies deeper is of one of several users
			continue
		}
		switch value = strings.Trim(strings.TrimSpace(value), `"'`); key {
		case "oauth_token":
			token = value
		case "user":
			user = value
		}
	}
	return cmp.Or(token, user)
}
