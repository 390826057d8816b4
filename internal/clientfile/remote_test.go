package clientfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/test/must"
)

// A server that is called over the network becomes one that belay calls: values stay where they are, keys change.
func TestInstall_Remote(t *testing.T) {
	for name, tt := range map[string]struct{ client, before, after string }{
		"Claude": {"claude",
			`{"mcpServers":{"web":{"type":"http","url":"https://x.example/mcp","headers":{"Authorization":"Bearer s3cret","X-Region":"${R:-eu}"},"alwaysLoad":true}}}`,
			`{"mcpServers":{"web":{"type":"stdio","command": "/opt/bin/belay", "args":["mcp", "--name=web", "--transport", "http", "--header-env", "Authorization=BELAY_HEADER_AUTHORIZATION", "--header-env", "X-Region=BELAY_HEADER_X_REGION", "--url", "https://x.example/mcp"],"env":{"BELAY_HEADER_AUTHORIZATION":"Bearer s3cret","BELAY_HEADER_X_REGION":"${R:-eu}"},"alwaysLoad":true}}}`},
		"ClaudeSSE": {"claude", `{"mcpServers":{"w":{"url":"http://localhost/sse", "type":"sse", "timeout": 60000}}}`,
			`{"mcpServers":{"w":{"command": "/opt/bin/belay", "args":["mcp", "--name=w", "--timeout", "59s", "--transport", "sse", "--url", "http://localhost/sse"], "type":"stdio", "timeout": 60000}}}`},
		"ClaudeOtherName": {"claude", `{"mcpServers":{"w":{"type":"streamable-http","url":"http://localhost/"}}}`,
			`{"mcpServers":{"w":{"type":"stdio","command": "/opt/bin/belay", "args":["mcp", "--name=w", "--transport=http", "--url", "http://localhost/"]}}}`},
		"NamesThatCollide": {"claude", `{"mcpServers":{"w":{"type":"http","url":"http://localhost/","headers":{"X-A":"1","X_A":"2"}}}}`,
			`{"mcpServers":{"w":{"type":"stdio","command": "/opt/bin/belay", "args":["mcp", "--name=w", "--transport", "http", "--header-env", "X-A=BELAY_HEADER_X_A", "--header-env", "X_A=BELAY_HEADER_X_A_", "--url", "http://localhost/"],"env":{"BELAY_HEADER_X_A":"1","BELAY_HEADER_X_A_":"2"}}}}`},
		"Gemini": {"gemini", `{"mcpServers":{"a":{"httpUrl":"https://x.example/","headers":{"X-Goog-Api-Key":"$K"}},"b":{"url":"http://127.0.0.1/sse"},"c":{"url":"http://[::1]/","type":"http"}}}`,
			`{"mcpServers":{"a":{"command": "/opt/bin/belay", "args":["mcp", "--name=a", "--transport=http", "--header-env", "X-Goog-Api-Key=BELAY_HEADER_X_GOOG_API_KEY", "--url", "https://x.example/"],"env":{"BELAY_HEADER_X_GOOG_API_KEY":"$K"}},` +
				`"b":{"command": "/opt/bin/belay", "args":["mcp", "--name=b", "--url", "http://127.0.0.1/sse"]},"c":{"command": "/opt/bin/belay", "args":["mcp", "--name=c", "--transport", "http", "--url", "http://[::1]/"],"type":"stdio"}}}`},
		"Opencode": {"opencode", `{"mcp":{"a":{"type":"remote","url":"https://x.example/","enabled":false,"oauth":false,"headers":{"Authorization":"Bearer {env:K}"},},},}`,
			`{"mcp":{"a":{"type":"local","command":["/opt/bin/belay", "mcp", "--name=a", "--header-env", "Authorization=BELAY_HEADER_AUTHORIZATION", "--url", "https://x.example/"],"enabled":false,"oauth":false,"environment":{"BELAY_HEADER_AUTHORIZATION":"Bearer {env:K}"},},},}`},
		"Codex": {"codex", "[mcp_servers.a]\nurl = \"https://x.example/\" # u\nbearer_token_env_var = \"T\" # t\nhttp_headers = { \"X-A\" = \"1\", B = '2' }\nstartup_timeout_sec = 9\n",
			"[mcp_servers.a]\ncommand = \"/opt/bin/belay\"\nargs = [\"mcp\", \"--name=a\", \"--start-timeout\", \"8s\", \"--header-env\", \"X-A=BELAY_HEADER_X_A\", \"--header-env\", \"B=BELAY_HEADER_B\", \"--bearer-env\", \"T\", \"--url\", \"https://x.example/\"] # u\nenv_vars = [\"T\"] # t\nenv = { \"BELAY_HEADER_X_A\" = \"1\", BELAY_HEADER_B = '2' }\nstartup_timeout_sec = 9\n"},
		"CodexVariables": {"codex", "[mcp_servers.a]\nenv_http_headers = { \"X-A\" = \"V\", Authorization = 'W' }\nurl = \"https://x.example/\"\n",
			"[mcp_servers.a]\nenv_vars = [ \"V\", 'W' ]\ncommand = \"/opt/bin/belay\"\nargs = [\"mcp\", \"--name=a\", \"--header-env\", \"X-A=V\", \"--header-env=Authorization=W\", \"--url\", \"https://x.example/\"]\n"},
		"CodexTable": {"codex", "[mcp_servers.a]\nurl = \"https://x.example/\"\n\n[mcp_servers.a.http_headers] # h\n\"X.A\" = \"1\"\n",
			"[mcp_servers.a]\ncommand = \"/opt/bin/belay\"\nargs = [\"mcp\", \"--name=a\", \"--header-env\", \"X.A=BELAY_HEADER_X_A\", \"--url\", \"https://x.example/\"]\n\n[mcp_servers.a.env] # h\n\"BELAY_HEADER_X_A\" = \"1\"\n"},
		"CodexInline": {"codex", "mcp_servers.a = { url = \"http://localhost/\", enabled = false }\n",
			"mcp_servers.a = { command = \"/opt/bin/belay\", args = [\"mcp\", \"--name=a\", \"--url\", \"http://localhost/\"], enabled = false }\n"},
		"CodexDotted": {"codex", "[mcp_servers]\n  a . url = \"http://localhost/\"\n",
			"[mcp_servers]\n  a . command = \"/opt/bin/belay\"\n  a . args = [\"mcp\", \"--name=a\", \"--url\", \"http://localhost/\"]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := install(t, at(t, tt.client, clientfile.Servers, clientfile.User), tt.before, belay); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
		})
	}
}

// What belay cannot do for a client stays with the client, and the reason is said.
func TestInstall_RemoteLeftAlone(t *testing.T) {
	const remote = `{"mcpServers":{"w":{"type":"http",%}}}`
	for name, tt := range map[string]struct{ client, text, why string }{
		"HeadersHelper":     {"claude", `"url":"https://x.example/","headersHelper":"get"`, "headersHelper"},
		"OAuth":             {"claude", `"url":"https://x.example/","headers":{"Authorization":"x"},"oauth":{"clientId":"x"}`, "oauth"},
		"Password":          {"claude", `"url":"https://me:pass@x.example/"`, "secret in its URL"},
		"KeyInQuery":        {"claude", `"url":"https://x.example/mcp?apiKey=abc"`, "secret in its URL"},
		"RandomInPath":      {"claude", `"url":"https://x.example/s/4f9c2b7e81aa4410/mcp"`, "secret in its URL"},
		"UUIDInPath":        {"claude", `"url":"https://x.example/550e8400-e29b-41d4-a716-446655440000/mcp"`, "secret in its URL"},
		"Variable":          {"claude", `"url":"https://x.example/${KEY}/mcp"`, "variable in its URL"},
		"VariableOpencode":  {"opencode", `{"mcp":{"w":{"type":"remote","url":"https://x.example/{env:KEY}"}}}`, "variable in its URL"},
		"OtherScheme":       {"claude", `"url":"unix:///run/x"`, "not http or https"},
		"Flag":              {"claude", `"url":"--config=x"`, "not http or https"},
		"OtherType":         {"claude", `{"mcpServers":{"w":{"type":"ws","url":"wss://x.example/"}}}`, `type "ws"`},
		"NoType":            {"claude", `{"mcpServers":{"w":{"url":"https://x.example/"}}}`, "no type"},
		"Environment":       {"claude", `"url":"https://x.example/","env":{"A":"1"}`, "both a URL and env"},
		"Arguments":         {"claude", `"url":"https://x.example/","args":[]`, "both a URL and args"},
		"TwoURLs":           {"gemini", `{"mcpServers":{"w":{"httpUrl":"https://x.example/","url":"https://y.example/"}}}`, "both a URL and url"},
		"KeyTwice":          {"claude", `"url":"https://x.example/","url":"https://y.example/"`, "could not restore"},
		"EscapedKey":        {"claude", `"u\u0072l":"https://x.example/"`, "could not restore"},
		"EscapedHeader":     {"claude", `"url":"https://x.example/","headers":{"\u0041":"1"}`, "could not restore"},
		"HeaderTwice":       {"claude", `"url":"https://x.example/","headers":{"a":"1","A":"2"}`, "could not restore"},
		"HeaderWithEquals":  {"claude", `"url":"https://x.example/","headers":{"a=b":"1"}`, "could not restore"},
		"HeaderNoText":      {"claude", `"url":"https://x.example/","headers":{"a":1}`, "could not restore"},
		"GeminiCredentials": {"gemini", `{"mcpServers":{"w":{"httpUrl":"https://x.example/","authProviderType":"google_credentials"}}}`, "authProviderType"},
		"OpencodeOAuth":     {"opencode", `{"mcp":{"w":{"type":"remote","url":"https://x.example/","oauth":{}}}}`, "oauth"},
		"CodexScopes":       {"codex", "[mcp_servers.w]\nurl = 'https://x.example/'\nscopes = ['a']\n", "scopes"},
		"CodexOAuth":        {"codex", "[mcp_servers.w]\nurl = 'https://x.example/'\n[mcp_servers.w.oauth]\nclient_id = 'a'\n", "oauth"},
		"CodexTwoVariables": {"codex", "[mcp_servers.w]\nurl = 'https://x.example/'\nbearer_token_env_var = 'T'\nenv_http_headers = { A = 'B' }\n", "both bearer_token_env_var and env_http_headers"},
		"CodexLayout":       {"codex", "[mcp_servers.w]\nurl = 'https://x.example/'\nenv_http_headers = {A='B'}\n", "could not restore"},
		"CodexDottedHeader": {"codex", "[mcp_servers.w]\nurl = 'https://x.example/'\nhttp_headers.A = 'B'\n", "could not restore"},
	} {
		t.Run(name, func(t *testing.T) {
			text := tt.text
			if strings.HasPrefix(text, `"`) {
				text = strings.Replace(remote, "%", text, 1)
			}
			f := parse(t, at(t, tt.client, clientfile.Servers, clientfile.User), text)
			if e := f.Entries[0]; e.State != clientfile.Unfit || !strings.Contains(e.Why, tt.why) {
				t.Errorf("%v, %q; want %q", e.State, e.Why, tt.why)
			}
			if edit, err := f.Install(belay, "w"); err != nil || string(edit.After) != text {
				t.Errorf("%v\n%s", err, edit.After)
			}
		})
	}
}

// A public server without credentials may ask for a login in the browser, which only the client can do: it has to be named.
func TestInstall_RemoteThatMayLogIn(t *testing.T) {
	l := at(t, "claude", clientfile.Servers, clientfile.User)
	for url, doubt := range map[string]bool{"https://x.example/mcp": true, "http://localhost:8080/mcp": false, "http://192.168.1.5/": false, "http://[::1]:1/": false, "https://10.example/": true} {
		for _, headers := range []string{"", `,"headers":{"X-Region":"eu"}`, `,"headers":{"X-Api-Key":"k"}`} {
			text := `{"mcpServers":{"w":{"type":"http","url":"` + url + `"` + headers + `}}}`
			edit, err := parse(t, l, text).Install(belay)
			if want := !doubt || strings.Contains(headers, "Key"); err != nil || (len(edit.Changed) == 1) != want || (string(edit.After) != text) != want {
				t.Errorf("%s: %v, %s", text, err, edit.After)
			}
			if edit, err = parse(t, l, text).Install(belay, "w"); err != nil || len(edit.Changed) != 1 {
				t.Errorf("%s, named: %v, %s", text, err, edit.After)
			}
		}
	}
}

// Where the client keeps a login for a server, belay is not put in front of it, not even by name.
func TestRead_RemoteThatIsLoggedIn(t *testing.T) {
	const url = "https://x.example/mcp"
	for name, tt := range map[string]struct{ client, text, store, login string }{
		"Claude":   {"claude", `{"mcpServers":{"w":{"type":"http","url":"` + url + `"}}}`, ".claude/.credentials.json", `{"mcpOAuth":{"w|0a1b":{"serverName":"w","accessToken":"t"}}}`},
		"NeedsIt":  {"claude", `{"mcpServers":{"w":{"type":"http","url":"` + url + `"}}}`, ".claude/mcp-needs-auth-cache.json", `{"w":{"timestamp":1}}`},
		"Codex":    {"codex", "[mcp_servers.w]\nurl = \"" + url + "\"\n", ".codex/.credentials.json", `{"w|1":{"server_name":"w","server_url":"` + url + `"}}`},
		"Gemini":   {"gemini", `{"mcpServers":{"w":{"httpUrl":"` + url + `"}}}`, ".gemini/mcp-oauth-tokens.json", `[{"serverName":"w","token":{}}]`},
		"Opencode": {"opencode", `{"mcp":{"w":{"type":"remote","url":"` + url + `"}}}`, ".local/share/opencode/mcp-auth.json", `{"w":{"tokens":{}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			l := at(t, tt.client, clientfile.Servers, clientfile.User)
			t.Setenv("XDG_DATA_HOME", "")
			put := func(path, text string) {
				t.Helper()
				must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must.OK(t, os.WriteFile(path, []byte(text), 0o600))
			}
			put(l.Path, tt.text)
			for login, want := range map[string]clientfile.State{strings.ReplaceAll(strings.ReplaceAll(tt.login, `"w`, `"other`), url, "https://y.example/"): clientfile.Direct,
				"{": clientfile.Direct, tt.login: clientfile.Unfit} {
				put(filepath.Join(os.Getenv("HOME"), filepath.FromSlash(tt.store)), login)
				f, err := clientfile.Read(l)
				must.OK(t, err)
				if e := f.Entries[0]; e.State != want || (e.Why != "") != (want == clientfile.Unfit) {
					t.Errorf("%s: %v, %s", login, e.State, e.Why)
				}
			}
		})
	}
}

// What the user has put behind belay, or changed since, is the user's.
func TestUninstall_RemoteByHand(t *testing.T) {
	for name, text := range map[string]string{
		"OwnOrder":      `{"mcpServers":{"w":{"command":"belay","args":["mcp","--url","https://x.example/","--name","w"]}}}`,
		"NoTransport":   `{"mcpServers":{"w":{"type":"stdio","command":"belay","args":["mcp","--name=w","--url","https://x.example/"]}}}`,
		"NoType":        `{"mcpServers":{"w":{"command":"belay","args":["mcp","--name=w","--transport","http","--url","https://x.example/"]}}}`,
		"MoreVariables": `{"mcpServers":{"w":{"type":"stdio","command":"belay","args":["mcp","--name=w","--transport","http","--header-env","A=BELAY_HEADER_A","--url","https://x.example/"],"env":{"BELAY_HEADER_A":"1","HTTPS_PROXY":"p"}}}}`,
		"LessVariables": `{"mcpServers":{"w":{"type":"stdio","command":"belay","args":["mcp","--name=w","--transport","http","--header-env","A=BELAY_HEADER_A","--url","https://x.example/"]}}}`,
		"OwnVariable":   `{"mcpServers":{"w":{"type":"stdio","command":"belay","args":["mcp","--name=w","--transport","http","--bearer-env","T","--url","https://x.example/"]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := parse(t, at(t, "claude", clientfile.Servers, clientfile.User), text)
			if f.Entries[0].State != clientfile.ByHand {
				t.Errorf("%+v", f.Entries[0])
			}
			if edit, err := f.Uninstall(); err != nil || string(edit.After) != text {
				t.Errorf("%v, %s", err, edit.After)
			}
			if edit, err := f.Install("/gone/belay", "w"); err != nil || string(edit.After) != text {
				t.Errorf("%v, %s", err, edit.After)
			}
		})
	}
}

// A client that writes its file anew keeps neither belay's layout nor its order, and the user may add flags.
func TestUninstall_RemoteWrittenAnew(t *testing.T) {
	for name, tt := range map[string]struct{ client, now, want string }{
		"OverLines": {"claude", "{\"mcpServers\": {\"w\": {\n  \"type\": \"stdio\",\n  \"command\": \"belay\",\n  \"args\": [\n    \"mcp\",\n    \"--name=w\",\n    \"--transport\",\n    \"http\",\n    \"--header-env\",\n    \"A=BELAY_HEADER_A\",\n    \"--no-retry\",\n    \"--url\",\n    \"https://x.example/\"\n  ],\n  \"env\": {\n    \"BELAY_HEADER_A\": \"1\"\n  }\n}}}",
			"{\"mcpServers\": {\"w\": {\n  \"type\": \"http\",\n  \"url\": \"https://x.example/\",\n  \"headers\": {\n    \"A\": \"1\"\n  }\n}}}"},
		"OtherOrder": {"claude", `{"mcpServers":{"w":{"args":["mcp","--name=w","--transport","sse","--url","https://x.example/"],"type":"stdio","command":"belay"}}}`,
			`{"mcpServers":{"w":{"url":"https://x.example/","type":"sse"}}}`},
		"KeyBetween": {"claude", `{"mcpServers":{"w":{"command":"belay", "type":"stdio","args":["mcp","--name=w","--transport","sse","--url","https://x.example/"]}}}`,
			`{"mcpServers":{"w":{"type":"sse","url":"https://x.example/"}}}`},
		"Comments": {"opencode", `{"mcp":{"w":{"command": /* a, b */ ["belay", "mcp","--name=w","--url", /* c */ "https://x.example/",],"type":"local"/* d, e */,},},}`,
			`{"mcp":{"w":{"url": /* a, b */ "https://x.example/","type":"remote"/* d, e */,},},}`},
		"CommentBehindCommand": {"cursor", `{"mcpServers":{"w":{"command":"belay" /* a, b */ , "x": 1, "args":["mcp","--name=w","--url","https://x.example/"]}}}`,
			`{"mcpServers":{"w":{"x": 1, "url":"https://x.example/"}}}`},
		"TOML": {"codex", "[mcp_servers.w]\nargs = [\n  \"mcp\", \"--name=w\", \"--header-env\", \"A/B=BELAY_HEADER_A\", \"--url\", \"https://x.example/\",\n]\nenabled = true\ncommand = \"belay\" # c\n",
			"[mcp_servers.w]\nargs = [\n  \"mcp\", \"--name=w\", \"--header-env\", \"A/B=BELAY_HEADER_A\", \"--url\", \"https://x.example/\",\n]\nenabled = true\ncommand = \"belay\" # c\n"},
		"TOMLBareKey": {"codex", "[mcp_servers.w]\nargs = [\n  \"mcp\", \"--name=w\", \"--header-env\", \"A.B=BELAY_HEADER_A_B\", \"--url\", \"https://x.example/\",\n]\nenabled = true\ncommand = \"belay\" # c\nenv = { BELAY_HEADER_A_B = \"1\" }\n",
			"[mcp_servers.w]\nurl = \"https://x.example/\"\nenabled = true\nhttp_headers = { \"A.B\" = \"1\" }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			edit, err := parse(t, at(t, tt.client, clientfile.Servers, clientfile.User), tt.now).Uninstall()
			if err != nil || string(edit.After) != tt.want {
				t.Errorf("%v\n%s\nwant\n%s", err, edit.After, tt.want)
			}
		})
	}
}
