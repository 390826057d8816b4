package clientfile_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/test/must"
)

const belay = "/opt/bin/belay"

// Each server's command line after belay has been put in front; the rest must be as it was.
func TestInstall_WrapsEveryServerAndNothingElse(t *testing.T) {
	const claude, claudeLocal, codex, opencode = "claude user", "claude local", "codex user", "opencode user"
	for name, tt := range map[string]struct{ where, before, after string }{
		"JSON": {claude,
			`{"numStartups": 3, "mcpServers": {"fs": {"type":"stdio","command": "npx", "args": ["-y", "pkg"], "env": {"A":"1"}}}, "x": [1, 2]}`,
			`{"numStartups": 3, "mcpServers": {"fs": {"type":"stdio","command": "/opt/bin/belay", "args": ["mcp", "--name", "fs", "--", "npx", "-y", "pkg"], "env": {"A":"1"}}}, "x": [1, 2]}`},
		"JSONOverLines": {claude,
			"{\n\t\"mcpServers\": {\n\t\t\"fs\": {\n\t\t\t\"args\": [\n\t\t\t\t\"-y\",\n\t\t\t\t\"p\\u006bg\"\n\t\t\t],\n\t\t\t\"command\": \"n\\u0070x\"\n\t\t}\n\t}\n}\n",
			"{\n\t\"mcpServers\": {\n\t\t\"fs\": {\n\t\t\t\"args\": [\"mcp\", \"--name\", \"fs\", \"--\", \"n\\u0070x\", \n\t\t\t\t\"-y\",\n\t\t\t\t\"p\\u006bg\"\n\t\t\t],\n\t\t\t\"command\": \"/opt/bin/belay\"\n\t\t}\n\t}\n}\n"},
		"JSONWithoutArguments": {claude,
			`{"mcpServers":{"a":{"command":"srv"},"b":{"command":"srv","args":[]},"c":{"command":"srv","args":[ ]}}}`,
			`{"mcpServers":{"a":{"command":"/opt/bin/belay", "args": ["mcp", "--name=a", "--", "srv"]},"b":{"command":"/opt/bin/belay","args":["mcp", "--name", "b", "--", "srv"]},"c":{"command":"/opt/bin/belay","args":["mcp", "--name", "c", "--", "srv" ]}}}`},
		"JSONRemote":    {claude, `{"mcpServers":{"web":{"type":"http","url":"u"}}}`, `{"mcpServers":{"web":{"type":"http","url":"u"}}}`},
		"JSONNoServers": {claude, `{"a":1}`, `{"a":1}`},
		"JSONTimeout": {claude, `{"mcpServers":{"a":{"command":"s","args":["x"],"timeout":120000}}}`,
			`{"mcpServers":{"a":{"command":"/opt/bin/belay","args":["mcp", "--name", "a", "--timeout", "1m59s", "--", "s", "x"],"timeout":120000}}}`},
		"JSONProject": {claudeLocal,
			`{"mcpServers":{"a":{"command":"s"}},"projects":{"PROJECT":{"mcpServers":{"b":{"command":"s","args":["1"]}}}}}`,
			`{"mcpServers":{"a":{"command":"s"}},"projects":{"PROJECT":{"mcpServers":{"b":{"command":"/opt/bin/belay","args":["mcp", "--name", "b", "--", "s", "1"]}}}}}`},
		"List": {opencode,
			`{"mcp": {"fs": {"type":"local","command": ["npx", "-y", "pkg"], "environment": {"A":"1"}}, "web": {"type":"remote","url":"u"}}, "x": [1, 2]}`,
			`{"mcp": {"fs": {"type":"local","command": ["/opt/bin/belay", "mcp", "--name", "fs", "--", "npx", "-y", "pkg"], "environment": {"A":"1"}}, "web": {"type":"remote","url":"u"}}, "x": [1, 2]}`},
		"ListOverLines": {opencode,
			"{ // mine\n\t\"mcp\": {\n\t\t\"fs\": {\n\t\t\t\"command\": [\n\t\t\t\t\"npx\",\n\t\t\t\t\"-y\"\n\t\t\t]\n\t\t}\n\t}\n}\n",
			"{ // mine\n\t\"mcp\": {\n\t\t\"fs\": {\n\t\t\t\"command\": [\"/opt/bin/belay\", \"mcp\", \"--name\", \"fs\", \"--\", \n\t\t\t\t\"npx\",\n\t\t\t\t\"-y\"\n\t\t\t]\n\t\t}\n\t}\n}\n"},
		"ListTimeout": {opencode, `{"mcp":{"a":{"command":["s"],"timeout":5000}}}`,
			`{"mcp":{"a":{"command":["/opt/bin/belay", "mcp", "--name", "a", "--start-timeout", "4s", "--", "s"],"timeout":5000}}}`},
		"ListOfNothing": {opencode, `{"mcp":{"a":{"command":[]},"b":{"enabled":false}}}`, `{"mcp":{"a":{"command":[]},"b":{"enabled":false}}}`},
		"TOML": {codex,
			"# mine\nmodel = \"o\" # keep\n\n[mcp_servers.fs]\ncommand = \"npx\"  # why\nargs = [\"-y\", 'pkg'] # more\n\n[mcp_servers.fs.env]\nA = \"1\"\n",
			"# mine\nmodel = \"o\" # keep\n\n[mcp_servers.fs]\ncommand = \"/opt/bin/belay\"  # why\nargs = [\"mcp\", \"--name\", \"fs\", \"--\", \"npx\", \"-y\", 'pkg'] # more\n\n[mcp_servers.fs.env]\nA = \"1\"\n"},
		"TOMLOverLines": {codex,
			"[mcp_servers.fs]\nargs = [ # first ]\n  \"-y\", # ]\n  'pkg',\n  # ] last\n]\ncommand = 'npx'\n",
			"[mcp_servers.fs]\nargs = [\"mcp\", \"--name\", \"fs\", \"--\", 'npx',  # first ]\n  \"-y\", # ]\n  'pkg',\n  # ] last\n]\ncommand = \"/opt/bin/belay\"\n"},
		"TOMLWithoutArguments": {codex,
			"[mcp_servers.\"a b\"]\n  command = \"s\" # x\n\n[mcp_servers.b]\ncommand = \"s\"\nargs = []\n",
			"[mcp_servers.\"a b\"]\n  command = \"/opt/bin/belay\"\n  args = [\"mcp\", \"--name=a b\", \"--\", \"s\"] # x\n\n[mcp_servers.b]\ncommand = \"/opt/bin/belay\"\nargs = [\"mcp\", \"--name\", \"b\", \"--\", \"s\"]\n"},
		"TOMLInline": {codex,
			"mcp_servers.a = { command = \"s\", env = { A = \"1\" } }\nmcp_servers.b = {args = [\"1\"], command = \"s\"}\n",
			"mcp_servers.a = { command = \"/opt/bin/belay\", args = [\"mcp\", \"--name=a\", \"--\", \"s\"], env = { A = \"1\" } }\nmcp_servers.b = {args = [\"mcp\", \"--name\", \"b\", \"--\", \"s\", \"1\"], command = \"/opt/bin/belay\"}\n"},
		"TOMLDotted": {codex,
			"[mcp_servers]\na.command = \"s\"\nb.command = \"s\"\nb.args = [\"1\"]\n",
			"[mcp_servers]\na.command = \"/opt/bin/belay\"\na.args = [\"mcp\", \"--name=a\", \"--\", \"s\"]\nb.command = \"/opt/bin/belay\"\nb.args = [\"mcp\", \"--name\", \"b\", \"--\", \"s\", \"1\"]\n"},
		"TOMLTimeouts": {codex,
			"[mcp_servers.a]\ncommand = \"s\"\nargs = [\"1\"]\ntool_timeout_sec = 1_200\nstartup_timeout_sec = 2.5\n",
			"[mcp_servers.a]\ncommand = \"/opt/bin/belay\"\nargs = [\"mcp\", \"--name\", \"a\", \"--timeout\", \"19m59s\", \"--start-timeout\", \"1.5s\", \"--\", \"s\", \"1\"]\ntool_timeout_sec = 1_200\nstartup_timeout_sec = 2.5\n"},
		"JSONShortTimeout": {claude, `{"mcpServers":{"a":{"command":"s","args":["x"],"timeout":1500},"b":{"command":"s","args":["x"],"timeout":61000}}}`,
			`{"mcpServers":{"a":{"command":"/opt/bin/belay","args":["mcp", "--name", "a", "--timeout", "750ms", "--", "s", "x"],"timeout":1500},"b":{"command":"/opt/bin/belay","args":["mcp", "--name", "b", "--timeout", "1m", "--", "s", "x"],"timeout":61000}}}`},
		"TOMLRemote": {codex, "[mcp_servers.a]\nurl = \"u\"\n", "[mcp_servers.a]\nurl = \"u\"\n"},
		"Comments": {claude, "{ // mine\n\"mcpServers\": {/* this, and that */ \"a\": {\"command\": \"s\", \"args\": [ /* , */ ]}}}",
			"{ // mine\n\"mcpServers\": {/* this, and that */ \"a\": {\"command\": \"/opt/bin/belay\", \"args\": [\"mcp\", \"--name\", \"a\", \"--\", \"s\" /* , */ ]}}}"},
		"ByHand":         {claude, `{"mcpServers":{"a":{"command":"belay","args":["mcp","--","s"]}}}`, `{"mcpServers":{"a":{"command":"belay","args":["mcp","--","s"]}}}`},
		"WrongArguments": {claude, `{"mcpServers":{"a":{"command":"s","args":null}}}`, `{"mcpServers":{"a":{"command":"s","args":null}}}`},
		"OddNames":       {claude, `{"mcpServers":{"a\u0001\"b":{"command":"s"}}}`, `{"mcpServers":{"a\u0001\"b":{"command":"/opt/bin/belay", "args": ["mcp", "--name=a\u0001\"b", "--", "s"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			client, scope, _ := strings.Cut(tt.where, " ")
			l := at(t, client, clientfile.Servers, clientfile.Scope(scope))
			here, err := os.Getwd()
			must.OK(t, err)
			before, want := strings.ReplaceAll(tt.before, "PROJECT", here), strings.ReplaceAll(tt.after, "PROJECT", here)
			if after := install(t, l, before, belay); after != want {
				t.Errorf("%s\nwant\n%s", after, want)
			}
		})
	}
}

func TestInstall_OneServer(t *testing.T) {
	l := at(t, "claude", clientfile.Servers, clientfile.User)
	before := `{"mcpServers":{"a":{"command":"s","args":["1"]},"b":{"command":"s","args":["1"]}}}`
	f := parse(t, l, before)
	edit, err := f.Install(belay, "b")
	if after := string(edit.After); err != nil || strings.Count(after, belay) != 1 || !strings.Contains(after, `"a":{"command":"s"`) {
		t.Errorf("%v, %s", err, after)
	}
	_, err = f.Install(belay, "c")
	if none, ok := errors.AsType[*clientfile.NoEntry](err); !ok || none.Name != "c" || len(none.Known) != 2 {
		t.Errorf("there is no c: %v", err)
	}
}

func TestParse_NamesThePlaceOfServers(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"mcpServers\": {\n    \"a\": {]\n": "line 3, column 11",
		`{"mcpServers": []}`:                      "line 1, column 16",
	} {
		if _, err := clientfile.Parse(at(t, "claude", clientfile.Servers, clientfile.User), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := clientfile.Parse(at(t, "codex", clientfile.Servers, clientfile.User), []byte("a = 1\n[mcp_servers.x]\ncommand = npx\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Error(err)
	}
}

// A client that writes its file anew, as claude does at every start, and users who edit it do not keep belay's layout.
func TestUninstall_WrittenAnew(t *testing.T) {
	for name, tt := range map[string]struct{ client, now, want string }{
		"OverLines": {"claude", "{\"mcpServers\": {\"a\": {\n  \"command\": \"belay\",\n  \"args\": [\n    \"mcp\",\n    \"--name\",\n    \"a\",\n    \"--\",\n    \"npx\",\n    \"-y\"\n  ]\n}}}",
			"{\"mcpServers\": {\"a\": {\n  \"command\": \"npx\",\n  \"args\": [\n    \"-y\"\n  ]\n}}}"},
		"Compact":     {"claude", `{"mcpServers":{"a":{"command":"belay","args":["mcp","--name","a","--","npx","-y"]}}}`, `{"mcpServers":{"a":{"command":"npx","args":["-y"]}}}`},
		"NoArguments": {"claude", "{\"mcpServers\": {\"a\": {\n  \"command\": \"belay\",\n  \"args\": [\n    \"mcp\",\n    \"--name=a\",\n    \"--\",\n    \"npx\"\n  ]\n}}}", "{\"mcpServers\": {\"a\": {\n  \"command\": \"npx\"\n}}}"},
		"KeyBetween":  {"claude", `{"mcpServers":{"a":{"command":"belay", "env":{}, "args":["mcp", "--name=a", "--", "npx"]}}}`, `{"mcpServers":{"a":{"command":"npx", "env":{}, "args":[]}}}`},
		"OtherOrder":  {"claude", `{"mcpServers":{"a":{"args":["mcp", "--name=a", "--", "npx"], "command":"belay"}}}`, `{"mcpServers":{"a":{"args":[], "command":"npx"}}}`},
		"Comments":    {"claude", `{"mcpServers":{"a":{"command":"belay","args":["mcp","--name","a","--","npx" /* a, b */ , "-y"]}}}`, `{"mcpServers":{"a":{"command":"npx","args":["-y"]}}}`},
		"TOML":        {"codex", "[mcp_servers.a]\ncommand = \"belay\"\nargs = [\n  \"mcp\",\n  \"--name\",\n  \"a\",\n  \"--\", # a, b\n  \"npx\", # c, d\n  \"-y\",\n]\n", "[mcp_servers.a]\ncommand = \"npx\"\nargs = [# c, d\n  \"-y\",\n]\n"},
		"TOMLLast":    {"codex", "[mcp_servers.a]\ncommand = \"belay\"\nargs = [\n  \"mcp\",\n  \"--name\",\n  \"a\",\n  \"--\",\n  \"npx\",\n]\n", "[mcp_servers.a]\ncommand = \"npx\"\nargs = [\n]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			edit, err := parse(t, at(t, tt.client, clientfile.Servers, clientfile.User), tt.now).Uninstall()
			if err != nil || string(edit.After) != tt.want {
				t.Errorf("%v\n%s\nwant\n%s", err, edit.After, tt.want)
			}
		})
	}
}
