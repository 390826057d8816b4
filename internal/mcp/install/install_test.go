package install_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/belay-run/belay/internal/mcp/install"
)

const belay = "/opt/bin/belay"

var claude = install.JSON{Path: []string{"mcpServers"}}
var codex = install.TOML{Key: "mcp_servers"}

// Each server's command line after belay has been put in front; the rest must be as it was.
func TestAddRemove(t *testing.T) {
	for name, tt := range map[string]struct {
		format install.Format
		before string
		after  string
	}{
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
		"JSONProject": {install.JSON{Path: []string{"projects", "/w", "mcpServers"}},
			`{"mcpServers":{"a":{"command":"s"}},"projects":{"/w":{"mcpServers":{"b":{"command":"s","args":["1"]}}}}}`,
			`{"mcpServers":{"a":{"command":"s"}},"projects":{"/w":{"mcpServers":{"b":{"command":"/opt/bin/belay","args":["mcp", "--name", "b", "--", "s", "1"]}}}}}`},
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
	} {
		t.Run(name, func(t *testing.T) {
			after, _, err := install.Add(tt.format, []byte(tt.before), belay)
			if err != nil || string(after) != tt.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, after, tt.after)
			}
			again, servers, err := install.Add(tt.format, after, belay)
			if err != nil || string(again) != tt.after {
				t.Errorf("not the same when done twice: %v\n%s", err, again)
			}
			for _, s := range servers {
				if s.Changed || s.Behind == s.Remote {
					t.Errorf("%+v", s)
				}
			}
			back, _, err := install.Remove(tt.format, after)
			if err != nil || string(back) != tt.before {
				t.Errorf("%v\n%s\nwant\n%s", err, back, tt.before)
			}
			untouched, _, err := install.Remove(tt.format, []byte(tt.before))
			if err != nil || string(untouched) != tt.before {
				t.Errorf("there was nothing to take away: %v\n%s", err, untouched)
			}
		})
	}
}

func TestAdd_OneServer(t *testing.T) {
	before := `{"mcpServers":{"a":{"command":"s","args":["1"]},"b":{"command":"s","args":["1"]}}}`
	after, _, err := install.Add(claude, []byte(before), belay, "b")
	if err != nil || strings.Count(string(after), belay) != 1 || !strings.Contains(string(after), `"a":{"command":"s"`) {
		t.Errorf("%v, %s", err, after)
	}
	var none *install.NoServer
	if _, _, err := install.Add(claude, []byte(before), belay, "c"); !errors.As(err, &none) || none.Name != "c" || len(none.Known) != 2 {
		t.Errorf("there is no c: %v", err)
	}
}

func TestBroken_NamesThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"mcpServers\": {\n    \"a\": {]\n": "line 3, column 11",
		"":                   "line 1, column 1",
		`{"mcpServers": []}`: "line 1, column 16",
	} {
		if _, _, err := install.Add(claude, []byte(text), belay); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, _, err := install.Add(codex, []byte("a = 1\n[mcp_servers.x]\ncommand = npx\n"), belay); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Error(err)
	}
}

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	os.WriteFile(path, []byte("one"), 0o640)
	if err := install.Replace("", path, []byte("other"), []byte("two")); err == nil {
		t.Error("somebody else's change was lost")
	}
	if err := install.Replace("", path, []byte("one"), []byte("two")); err != nil {
		t.Error(err)
	}
	got, _ := os.ReadFile(path)
	kept, _ := os.ReadFile(path + install.Backup)
	info, _ := os.Stat(path)
	if string(got) != "two" || string(kept) != "one" || info.Mode().Perm() != 0o640 {
		t.Errorf("%s, %s, %v", got, kept, info.Mode())
	}
}

func TestDiff(t *testing.T) {
	got := install.Diff("f", []byte("a\nb\nc\nd\n"), []byte("a\nB\nc\nd\ne\n"))
	if want := "--- f\n+++ f\n@@ -2,1 +2,1 @@\n a\n-b\n+B\n c\n@@ -5,1 +5,2 @@\n d\n+e\n"; got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// Whatever the file: what was added can be taken away, and what comes out can be read.
func FuzzRoundTrip(f *testing.F) {
	f.Add(`{"mcpServers":{"a":{"command":"s","args":["x", 1, []]}}}`, false)
	f.Add(`{"mcpServers":{"a":{"command":"s","command":"t","args":[],"args":["b"]}}}`, false)
	f.Add("[mcp_servers.a]\ncommand = \"\"\"\ns\"\"\"\nargs = [\n# c\n]\n", true)
	f.Add("mcp_servers.a = {command = 's', args = [['x'], 1]}", true)
	f.Fuzz(func(t *testing.T, text string, isTOML bool) {
		var format install.Format = claude
		if isTOML {
			format = codex
		}
		servers, err := install.Look(format, []byte(text))
		if err != nil {
			return
		}
		for _, s := range servers {
			if s.Behind {
				return // somebody has written what we would
			}
		}
		after, _, err := install.Add(format, []byte(text), belay)
		if err != nil {
			t.Fatal(err)
		}
		var any any
		if isTOML {
			err = toml.Unmarshal(after, &any)
		} else {
			err = json.Unmarshal(after, &any)
		}
		if err != nil {
			t.Fatalf("%v\n%q\nbecame\n%q", err, text, after)
		}
		back, _, err := install.Remove(format, after)
		if err != nil || string(back) != text {
			t.Fatalf("%v\n%q\nbecame\n%q\nand then\n%q", err, text, after, back)
		}
	})
}
