package clientfile_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// Whatever a file holds: what is installed can be read and undone to the byte, and a second time changes nothing.
func FuzzInstall(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s.text))
	}
	for _, text := range []string{
		"\uFEFF{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"\\ud83d\\ude00 '\\u0027' \\\\\"}]}]}}",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"belay hook --name x -- \"$0\" -c 'a'\\''b'"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"belay","args":["hook","--name","x","--",1]}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","args":[1, {}]}]}]},"hooks":{}}`,
		`{"mcpServers":{"a":{"command":"s","args":["x", 1, []]}}}`,
		`{"mcpServers":{"a":{"command":"s","command":"t","args":[],"args":["b"]}}}`,
		`{"mcpServers":{"a":{"command":"belay","args":["mcp","--name=a","--","s"],"command":"belay"}}}`,
		`{"mcpServers":{"a":{"type":"http","url":"http://x/","headers":{"A":"b","a-":"c"}},"b":{"url":"https://x/","headers":{}}}}`,
		`{"mcpServers":{"a":{"command":"belay","type":"stdio","env":{"BELAY_HEADER_A":"b"},"args":["mcp","--name=a","--transport","http","--header-env","A=BELAY_HEADER_A","--url","http://x/"]}}}`,
		`{"mcp":{"a":{"type":"remote","url":"http://x/","headers":{"A":"b",},},},}`,
		`{"servers":{"a":{"type":"sse","url":"http://x/","headers":{"A":"${input:b}"}}}}`,
		"[mcp_servers.a]\nurl = 'http://x/'\nbearer_token_env_var = 'T'\n[mcp_servers.a.http_headers]\n\"A\" = 'b'\n",
		"mcp_servers.a = {url = \"http://x/\", env_http_headers = { \"A\" = \"V\", B = 'W' }}",
		"[mcp_servers.a]\ncommand = \"\"\"\ns\"\"\"\nargs = [\n# c\n]\n",
		"mcp_servers.a = {command = 's', args = [['x'], 1]}",
		"[[x.y]]\na = 1\n[x.y.z]\nb = 1979-05-27 07:32:00 # c\n[mcp_servers]\na . command = 's'\nb = {command = 't',args=[1,[2],{c=[3]},]}",
	} {
		f.Add([]byte(text))
	}
	var places []clientfile.Location
	for _, client := range profile.Clients() {
		for _, kind := range []clientfile.Kind{clientfile.Hooks, clientfile.Servers} {
			own, err := client.Locations(kind, clientfile.User)
			must.OK(f, err)
			places = append(places, own...)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, l := range places {
			before, err := clientfile.Parse(l, text)
			if err != nil {
				continue
			}
			plain := bytes.TrimPrefix(text, []byte("\uFEFF"))
			if isTOML := filepath.Ext(l.Path) == ".toml"; !isTOML && before.Comment == "" && !l.Client.Comments && len(bytes.TrimSpace(text)) > 0 && !json.Valid(plain) {
				t.Fatalf("taken for JSON: %q", text)
			} else if isTOML && toml.Unmarshal(text, &map[string]any{}) != nil {
				t.Fatalf("taken for TOML: %q", text)
			}
			launched(t, before)
			for _, e := range before.Entries {
				if e.State == clientfile.Installed {
					// The text was written as belay would, in any layout: what comes out must be readable.
					if edit, err := before.Uninstall(); err == nil {
						parse(t, l, string(edit.After))
					}
					return
				}
			}
			edit, err := before.Install("/opt/it's/belay", names(before)...)
			if err != nil {
				t.Fatalf("%v\n%q", err, text)
			}
			conforms(t, before, edit, "/opt/it's/belay")
		}
	})
}
