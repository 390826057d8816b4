package clientfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

// launched puts belay in front of what the client of a file starts in the background, and undoes it to the byte.
func launched(t *testing.T, before *clientfile.File) {
	t.Helper()
	if was, err := before.UninstallLauncher(); before.Client.Launcher == "" || err != nil || !bytes.Equal(was.After, before.Text) {
		return // it has none, or belay is there already
	}
	edit, err := before.InstallLauncher("/opt/it's/belay")
	if err != nil {
		return
	}
	var settings map[string]json.RawMessage
	var value string
	if before.Comment == "" {
		must.OK(t, json.Unmarshal(bytes.TrimPrefix(edit.After, []byte("\uFEFF")), &settings))
		must.OK(t, json.Unmarshal(settings[before.Client.Launcher], &value))
		must.OK(t, json.Unmarshal([]byte(value), new([]string)))
	}
	undone, err := parse(t, before.Location, string(edit.After)).UninstallLauncher()
	must.OK(t, err)
	if !bytes.Equal(undone.After, before.Text) {
		t.Fatalf("%q has become %q, and then %q", before.Text, edit.After, undone.After)
	}
}

// claudeSettings are claude's settings in a home of their own, with that text.
func claudeSettings(t *testing.T, text string) (client *clientfile.Client, path string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	path = filepath.Join(home, ".claude", "settings.json")
	must.OK(t, os.Mkdir(filepath.Dir(path), 0o700))
	if text != "" {
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return profile.Find("claude").Client, path
}

func TestLauncher_UndoneToTheByte(t *testing.T) {
	for name, text := range map[string]string{
		"None": "", "Empty": "{}", "Blank": "{ }\n", "BlankLine": "{\n}\n", "Line": `{"model":"opus"}`, "Lines": "{\n\t\"model\": \"opus\",\n\t\"hooks\": {}\n}\n", "Comment": "{ // mine\n\"model\": \"opus\"}",
	} {
		t.Run(name, func(t *testing.T) {
			client, path := claudeSettings(t, text)
			for _, belay := range []string{"/old/belay", "/new/belay"} {
				if _, changed, err := client.SetLauncher(belay, false); !changed || err != nil {
					t.Fatalf("changed %v, %v", changed, err)
				}
			}
			if _, changed, err := client.SetLauncher("/new/belay", false); changed || err != nil {
				t.Errorf("a second time: changed %v, %v", changed, err)
			}
			now, err := os.ReadFile(path)
			must.OK(t, err)
			if bytes.Contains(now, []byte("/old/belay")) || !bytes.Contains(now, []byte("/new/belay")) {
				t.Errorf("%s", now)
			}
			if _, changed, err := client.SetLauncher("", true); !changed || err != nil {
				t.Errorf("a dry run: changed %v, %v", changed, err)
			}
			_, changed, err := client.SetLauncher("", false)
			left, _ := os.ReadDir(filepath.Dir(path))
			after, _ := os.ReadFile(path)
			if string(after) != text || !changed || err != nil || len(left) != min(len(text), 1) {
				t.Errorf("%q, changed %v, %v, %v", after, changed, err, left)
			}
		})
	}
}

// A client that has written its settings anew keeps the rest of them.
func TestLauncher_WrittenAnew(t *testing.T) {
	client, path := claudeSettings(t, `{"model":"opus"}`)
	_, _, err := client.SetLauncher("/opt/belay", false)
	must.OK(t, err)
	var all map[string]any
	text, err := os.ReadFile(path)
	must.OK(t, err)
	must.OK(t, json.Unmarshal(text, &all))
	all["a"] = 1
	text, err = json.MarshalIndent(all, "", "    ") // by their names
	must.OK(t, err)
	must.OK(t, os.WriteFile(path, text, 0o600))
	_, changed, err := client.SetLauncher("", false)
	text, _ = os.ReadFile(path)
	if want := "{\n    \"a\": 1,\n    \"model\": \"opus\"\n}"; string(text) != want || !changed || err != nil {
		t.Errorf("%s, changed %v, %v", text, changed, err)
	}
}

// What a user has set, or cannot be read, stays. Where claude has not been used, nothing is made.
func TestLauncher_LeftAlone(t *testing.T) {
	const own = `{"processWrapper": "/usr/bin/corporate --log"}`
	client, path := claudeSettings(t, own)
	if _, changed, err := client.SetLauncher("/opt/belay", false); changed || !errors.Is(err, clientfile.ErrOtherLauncher) {
		t.Errorf("changed %v, %v", changed, err)
	}
	if _, changed, err := client.SetLauncher("", false); changed || err != nil {
		t.Errorf("undone: changed %v, %v", changed, err)
	}
	for _, text := range []string{own, "{", "\n", "[]"} {
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		if _, changed, err := client.SetLauncher("/opt/belay", false); changed || err == nil {
			t.Errorf("%q: changed %v, %v", text, changed, err)
		}
		if after, _ := os.ReadFile(path); string(after) != text {
			t.Errorf("%q has become %q", text, after)
		}
	}
	must.OK(t, os.RemoveAll(filepath.Dir(path)))
	if _, changed, err := client.SetLauncher("/opt/belay", false); changed || err != nil {
		t.Errorf("not used: changed %v, %v", changed, err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	must.OK(t, os.Mkdir(filepath.Dir(path), 0o700))
	must.OK(t, os.Symlink(victim, path))
	client.SetLauncher("/opt/belay", false)
	if _, err := os.Stat(victim); err == nil {
		t.Error("a file was made where a link leads")
	}
}

// Where belay cannot do it, what it would have started is started without it.
func TestLauncher_Starts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("claude has no launchers on Windows")
	}
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		must.OK(t, os.WriteFile(path, []byte(text), 0o755))
		return path
	}
	must.OK(t, os.Mkdir(filepath.Join(dir, "directory"), 0o755))
	for belay, want := range map[string]string{
		at("it's belay", "#!/bin/sh\n[ $# = 2 ] || echo belay \"$@\"\n"): "belay shim background claude /bin/echo --x y z\n",
		at("older", "#!/bin/sh\necho unknown command; exit 2\n"):         "--x y z\n",
		at("broken", "\x7fELF\x02\x01\x01 of another machine"):           "--x y z\n",
		filepath.Join(dir, "directory"):                                  "--x y z\n",
		filepath.Join(dir, "gone"):                                       "--x y z\n",
	} {
		client, path := claudeSettings(t, "")
		_, _, err := client.SetLauncher(belay, false)
		must.OK(t, err)
		text, err := os.ReadFile(path)
		must.OK(t, err)
		var settings map[string]string
		var words []string
		must.OK(t, json.Unmarshal(text, &settings))
		must.OK(t, json.Unmarshal([]byte(settings[client.Launcher]), &words))
		words = append(words, "/bin/echo", "--x", "y z")
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); string(out) != want || err != nil {
			t.Errorf("%s: %q, %v", filepath.Base(belay), out, err)
		}
	}
}
