package clientfile_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// at is where a client has hooks or servers, in a home and a project of the test's own.
func at(t testing.TB, client string, kind clientfile.Kind, scope clientfile.Scope) clientfile.Location {
	t.Helper()
	if dir := os.Getenv("HOME"); !strings.HasPrefix(dir, os.TempDir()) || filepath.Base(dir) != "home-of-test" {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must.OK(t, err)
		home, work := filepath.Join(dir, "home-of-test"), filepath.Join(dir, "work")
		for _, d := range []string{home, work} {
			must.OK(t, os.Mkdir(d, 0o700))
		}
		for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": "", "OPENCODE_CONFIG_DIR": "", "XDG_CONFIG_HOME": "", "APPDATA": ""} {
			t.Setenv(name, value)
		}
		t.Chdir(work)
	}
	l, err := profile.Client(client).Location(kind, scope)
	must.OK(t, err)
	return l
}

func parse(t testing.TB, l clientfile.Location, text string) *clientfile.File {
	t.Helper()
	f, err := clientfile.Parse(l, []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

// install installs belay and returns the text, which must conform.
func install(t testing.TB, l clientfile.Location, before, belay string) string {
	t.Helper()
	f := parse(t, l, before)
	edit, err := f.Install(belay, names(f)...)
	if err != nil {
		t.Fatalf("%v\n%s", err, before)
	}
	conforms(t, f, edit, belay)
	return string(edit.After)
}

// names are the names of all entries: so belay is put in front of those, too, for which that has to be said.
func names(f *clientfile.File) (list []string) {
	for _, e := range f.Entries {
		list = append(list, e.Name)
	}
	return list
}

// conforms checks what is true of every installation, whatever the file: it can be read, every entry is behind belay that can be, a
// second one changes nothing, it is undone to the byte, and the same from another path that is gone.
func conforms(t testing.TB, before *clientfile.File, edit clientfile.Edit, belay string) {
	t.Helper()
	after, err := clientfile.Parse(before.Location, edit.After)
	if err != nil {
		t.Fatalf("spoilt: %v\n%q\nbecame\n%q", err, before.Text, edit.After)
	}
	for i, e := range after.Entries {
		if e.State == clientfile.Direct || (e.State == clientfile.Unfit) != (before.Entries[i].State == clientfile.Unfit) {
			t.Fatalf("entry %d is not behind belay: %s", i, edit.After)
		}
	}
	if again, err := after.Install(belay, names(after)...); err != nil || !bytes.Equal(again.After, edit.After) || len(again.Changed) > 0 {
		t.Fatalf("a second time changes it: %v\n%q\nbecame\n%q", err, edit.After, again.After)
	}
	want, err := before.Uninstall()
	must.OK(t, err)
	if back, err := after.Uninstall(); err != nil || !bytes.Equal(back.After, want.After) {
		t.Fatalf("not undone: %v\n%q\nbecame\n%q\nand then\n%q", err, before.Text, edit.After, back.After)
	}
	if len(want.Changed) == 0 && !bytes.Equal(want.After, before.Text) {
		t.Fatalf("there was nothing to undo:\n%q\n%q", before.Text, want.After)
	}
	elsewhere, err := before.Install("/gone/it's ä/belay", names(before)...)
	must.OK(t, err)
	moved, err := clientfile.Parse(before.Location, elsewhere.After)
	must.OK(t, err)
	now, err := moved.Install(belay, names(moved)...)
	if err != nil || len(now.Repointed) < len(edit.Changed) {
		t.Fatalf("%d of %d call the belay that is there, %v\n%q\nbecame\n%q", len(now.Repointed), len(edit.Changed), err, elsewhere.After, now.After)
	}
	if fresh := parse(t, before.Location, string(now.After)); len(edit.Repointed) == 0 && len(want.Changed) == 0 && !bytes.Equal(now.After, edit.After) {
		t.Fatalf("%+v\n%q\nwant\n%q", fresh.Entries, now.After, edit.After)
	}
}

// samples is a file of every format for both kinds.
var samples = map[string]struct {
	client, text string
	kind         clientfile.Kind
	comment      bool
}{
	"HooksJSON":         {"claude", file, clientfile.Hooks, false},
	"HooksJSONOfCodex":  {"codex", file, clientfile.Hooks, false},
	"HooksWithComments": {"claude", "{ // mine\n/* and\nthis */ \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]} // last\n}", clientfile.Hooks, true},
	"HooksOfCursor":     {"cursor", "{\n  \"version\": 1, \"model\": \"opus\",\n  \"hooks\": {\n    \"beforeShellExecution\": [{\"command\": \"./h.sh \\\"$CURSOR_PROJECT_DIR\\\" '\u0061 b'\", \"timeout\": 5, \"failClosed\": true}, {\"type\": \"prompt\", \"prompt\": \"ok?\"}],\n    \"stop\": [{\"type\": \"command\", \"command\": \"a | b\"}, {\"command\": \"python3 stop.py\", \"loop_limit\": null}]\n  }\n}\n", clientfile.Hooks, false},
	"ServersOfVSCode":   {"vscode", "{\n\t// mine\n\t\"inputs\": [{\"type\": \"promptString\", \"id\": \"k\", \"password\": true}],\n\t\"servers\": {\n\t\t\"a\": {\"type\": \"http\", \"url\": \"https://x.example/mcp\", \"headers\": {\"Authorization\": \"Bearer ${input:k}\"},},\n\t\t\"b\": {\"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"${workspaceFolder}\"], \"envFile\": \".env\"},\n\t},\n}\n", clientfile.Servers, false},
	"ServersOfCursor":   {"cursor", "{\"mcpServers\": {\"a\": {\"url\": \"https://x.example/mcp\", \"headers\": {\"Authorization\": \"Bearer ${env:K}\"}}, \"b\": {\"command\": \"npx -y x\"}, \"c\": {\"command\": \"npx\", \"args\": [\"x\"]} /* mine */}}", clientfile.Servers, false},
	"ServersJSON":       {"claude", "\uFEFF{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"npx\", \"args\": [\"-y\"], \"timeout\": 5000},\n    \"b\": {\"command\": \"s\"}\n  },\n  \"x\": 1.50\n}\n", clientfile.Servers, false},
	"ServersWithComments": {"claude", "{ // mine\n\"mcpServers\": { /* , */ \"a\": {\"command\": \"npx\" /* x */, \"args\": [ // one\n\"-y\"]},\n \"b\": {\"command\": \"s\" // two\n}}}",
		clientfile.Servers, true},
	"ServersWithTrailingCommas": {"opencode", "{ // mine\n\"mcp\": { \"a\": {\"type\": \"local\", \"command\": [\"npx\", \"-y\", /* x */ ], \"enabled\": true, },\n \"b\": {\"command\": [\"s\",],},\n},\n}\n",
		clientfile.Servers, false},
	"RemoteJSON": {"claude", "{\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"http\",\n      \"url\" : \"https:\\/\\/mine.example\\/mcp\",\n      \"headers\": {\n        \"Authorization\": \"Bearer ${T}\",\n        \"X-Y\": \"1\"\n      },\n      \"timeout\": 5000\n    },\r\n    \"b\": {\"url\":\"http://localhost:1/\",\"type\":\"sse\",\"x\":[]}\n  }\n}",
		clientfile.Servers, false},
	"RemoteWithComments": {"opencode", "{ // mine\n\"mcp\": { \"a\": {\"type\": \"remote\" /* , */, \"url\" /* u */ : /* v */ \"https://x.example/mcp\" // w\n, \"headers\": { /* none */ \"A\": \"1\", }, \"enabled\": false, },\n},\n}\n",
		clientfile.Servers, false},
	"RemoteTOML": {"codex", "# mine\r\n[mcp_servers.a]\r\n  url = 'https://x.example/mcp' # here\r\n  bearer_token_env_var = \"T\" # b\r\nenabled = false\r\n[mcp_servers.a.http_headers] # h\r\n'X-Y' = \"1\"\r\nZ = '2'\r\n[mcp_servers]\r\nb.url = \"http://127.0.0.1:1/\"\r\nb.env_http_headers = { \"A\" = \"V\", B = 'W' }\r\nc = {tool_timeout_sec = 5, url = \"http://10.0.0.1/x\", http_headers = {}}\r\n",
		clientfile.Servers, false},
	"ServersTOML": {"codex", "# mine\r\n[mcp_servers.a]\r\ncommand = 'npx' # here\r\nargs = [ # one\r\n  [\"x\"], '''y''',\r\n]\r\n[mcp_servers.\"b c\"]\r\nstartup_timeout_sec = 3\r\ncommand = \"s\"\r\n",
		clientfile.Servers, false},
}

func TestConformance(t *testing.T) {
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			l := at(t, s.client, s.kind, clientfile.User)
			f := parse(t, l, s.text)
			if f.Comment != "" != s.comment {
				t.Errorf("comment at %q", f.Comment)
			}
			for _, belay := range []string{"belay", "/opt/bin/belay", "/opt/it's a \"path\"\\/belay", `C:\bin\belay.exe`} {
				after := install(t, l, s.text, belay)
				t.Run("ChangedSince", func(t *testing.T) {
					since := strings.Replace(after, "mine", "mine, since yesterday", 1)
					since = strings.Replace(since, `"model": "opus"`, `"model": "sonnet"`, 1)
					want := strings.Replace(s.text, "mine", "mine, since yesterday", 1)
					want = strings.Replace(want, `"model": "opus"`, `"model": "sonnet"`, 1)
					if back, err := parse(t, l, since).Uninstall(); err != nil || string(back.After) != want {
						t.Errorf("%v\n%s\nwant\n%s", err, back.After, want)
					}
				})
				if belay == "belay" {
					t.Run("Diff", func(t *testing.T) { patches(t, s.text, after) })
				}
			}
			t.Run("NotBelay", func(t *testing.T) {
				if _, err := f.Install("/opt/other"); err == nil {
					t.Error("it would never be found again")
				}
			})
		})
	}
}

// patches checks that a diff says what has changed: git makes one text of the other by it.
func patches(t *testing.T, before, after string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must.OK(t, os.WriteFile(path, []byte(before), 0o600))
	diff := clientfile.Diff("f", []byte(before), []byte(after))
	git := exec.Command("git", "apply", "-p0", "-")
	git.Dir, git.Stdin = dir, strings.NewReader(diff)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, diff)
	}
	if got, _ := os.ReadFile(path); string(got) != after {
		t.Errorf("%s\ngives\n%s\nwant\n%s", diff, got, after)
	}
	if clientfile.Diff("f", []byte(after), []byte(after)) != "" {
		t.Error("nothing has changed")
	}
}

// The copy beside a file lives as long as belay stands in the file; mode and links stay, and what was changed meanwhile is not lost.
func TestReplace(t *testing.T) {
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			l := at(t, s.client, s.kind, clientfile.User)
			dir := filepath.Join(filepath.Dir(filepath.Dir(os.Getenv("HOME"))), t.Name())
			must.OK(t, os.MkdirAll(dir, 0o700))
			real := filepath.Join(dir, "real")
			os.MkdirAll(filepath.Dir(l.Path), 0o700)
			must.OK(t, os.WriteFile(real, []byte(s.text), 0o600))
			must.OK(t, os.Chmod(real, 0o640))
			if err := os.Symlink(real, l.Path); err != nil {
				t.Skip(err)
			}
			f, err := clientfile.Read(l)
			must.OK(t, err)
			edit, err := f.Install(belay, names(f)...)
			must.OK(t, err)
			if copied, err := f.Replace(edit.After); err != nil || copied != real+".belay-backup" {
				t.Fatalf("%q, %v", copied, err)
			}
			holds(t, real, string(edit.After), 0o640)
			holds(t, real+".belay-backup", s.text, 0o640)
			if _, err := f.Replace(edit.After); err == nil {
				t.Error("what has changed meanwhile was overwritten")
			}
			if f, err = clientfile.Read(l); err != nil {
				t.Fatal(err)
			}
			if edit, err = f.Uninstall(); err != nil {
				t.Fatal(err)
			}
			if copied, err := f.Replace(edit.After); err != nil || copied != "" {
				t.Fatalf("%q, %v", copied, err)
			}
			holds(t, real, s.text, 0o640)
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("left: %v", left)
			}
			if info, err := os.Lstat(l.Path); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v, %v", info, err)
			}
		})
	}
}

func holds(t *testing.T, path, want string, mode os.FileMode) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s: %v\n%s\nwant\n%s", path, err, text, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}
