package clientfile_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/profile"
)

// shape writes servers in any order and layout that a client reads.
type shape struct {
	*rand.Rand
	client *clientfile.Client
}

func (s shape) pick(list ...string) string { return list[s.IntN(len(list))] }

// space is white space, with comments where the client reads some.
func (s shape) space() string {
	if s.client.Comments && s.IntN(4) == 0 {
		return s.pick(" /* , ] } */ ", " // \", {\n", "/**/")
	}
	return s.pick("", "", " ", "\n    ", "\r\n\t", "  ")
}

// object writes members, the last one with a comma where the client reads that.
func (s shape) object(members ...string) string {
	s.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := "{" + s.space() + strings.Join(members, s.space()+","+s.space())
	if s.client.TrailingCommas && len(members) > 0 && s.IntN(3) == 0 {
		text += s.space() + ","
	}
	return text + s.space() + "}"
}

func (s shape) pair(key, value string) string {
	return fmt.Sprintf("%q", key) + s.space() + ":" + s.space() + value
}

// json is a server over HTTP in a JSON file.
func (s shape) json() string {
	kind := s.client.Remote.Kinds[s.IntN(len(s.client.Remote.Kinds))]
	members := []string{s.pair(kind.Key, s.pick(`"https://x.example/mcp"`, `"http:\/\/localhost:80\/"`, `"https://\u0078.example/a?b=c"`))}
	if kind.Type != "" {
		members = append(members, s.pair("type", `"`+kind.Type+`"`))
	}
	if s.IntN(3) > 0 {
		var headers []string
		for _, name := range []string{"Authorization", "X-A", "X_A", "x.b", "Z"} {
			if s.IntN(2) == 0 {
				headers = append(headers, s.pair(name, s.pick(`"Bearer \u0061 ${T}"`, `""`, `"it's \" , } ]"`)))
			}
		}
		members = append(members, s.pair("headers", s.object(headers...)))
	}
	for _, other := range []string{`"enabled": false`, `"timeout":5000`, `"un known":{"args":[1,{}]}`, `"description":"command"`} {
		if s.IntN(3) == 0 {
			members = append(members, other)
		}
	}
	return s.object(members...)
}

// toml is a server over HTTP in a TOML file.
func (s shape) toml(name string) string {
	gap, end := s.pick(" = ", "=", "  =\t"), s.pick("\n", "\r\n", " # c, \" ] }\n")
	url := "url" + gap + s.pick(`"https://x.example/mcp"`, `'http://localhost/'`, `"""http://10.0.0.1/"""`)
	switch s.IntN(3) {
	case 0:
		return fmt.Sprintf("mcp_servers.%s = {%s, http_headers = { %s = \"v\" }, enabled = true }\n", name, url, s.pick(`A`, `"X-A"`, `'x.b'`))
	case 1:
		return fmt.Sprintf("[mcp_servers]\n  %s . %s%s%s.http_headers={}%s", name, url, end, name, end)
	}
	lines := []string{s.pick("", "  ", "\t") + url, s.pick("# only a comment", "tool_timeout_sec = 7", `"required" = true`)}
	lines = append(lines, s.pick("", `bearer_token_env_var`+gap+`"TOKEN"`, `env_http_headers = { "A" = "V", B = 'W' }`, `env_http_headers = {}`))
	s.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	text := "[mcp_servers." + name + "]" + end + strings.Join(lines, end) + end
	return text + s.pick("", "["+"mcp_servers . "+name+s.pick(".http_headers", ` . "http_headers"`)+"]"+end+`"X-A"`+gap+`"v"`+end+"b"+gap+"'w'"+end)
}

// However a file is written that a client reads, belay comes in front of all its servers over HTTP, and every byte comes back.
func TestInstall_ManyShapes(t *testing.T) {
	for _, client := range profile.Clients() {
		t.Run(client.Name, func(t *testing.T) {
			l := at(t, client.Name, clientfile.Servers, clientfile.User)
			s := shape{rand.New(rand.NewPCG(21, 2)), client}
			for range 80 {
				text := ""
				if client.Name == "codex" {
					text = "# mine\n" + s.toml("one") + "[other]\na = 1\n"
				} else {
					key := cmp.Or(map[string]string{"opencode": "mcp", "vscode": "servers"}[client.Name], "mcpServers")
					text = s.object(`"a":1`, s.pair(key, s.object(s.pair("one", s.json()), s.pair("it's", s.json()))))
				}
				f := parse(t, l, text)
				for _, e := range f.Entries {
					if e.State != clientfile.Direct || !e.Remote {
						t.Fatalf("%v, %s\n%s", e.State, e.Why, text)
					}
				}
				after := install(t, l, text, belay)
				for _, e := range parse(t, l, after).Entries {
					if e.State != clientfile.Installed || !e.Remote {
						t.Fatalf("%v, %s\n%s\nbecame\n%s", e.State, e.Why, text, after)
					}
				}
			}
		})
	}
}
