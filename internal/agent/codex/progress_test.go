package codex

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// tellsAs follows events with progress and returns it: what is shown at once, and what is held.
func tellsAs(t *testing.T, p *Profile, how agent.Progress, events ...string) (shown, held string) {
	t.Helper()
	plan, err := p.Plan(agent.Turn{})
	if err != nil {
		t.Fatal(err)
	}
	how.Wanted = true
	plan.Progress = how
	f := p.Follow(plan)
	for _, e := range events {
		switch info := f.Line(agent.Line{Text: []byte(e)}); {
		case info.Progress == nil:
		case info.Show == agent.Hold:
			held += info.Progress.Text(nil)
		default:
			shown += info.Progress.Text(nil)
		}
	}
	return shown, held
}

func heldAgainst(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What no rehearsal has is told as codex tells it too.
func TestProgress_Events(t *testing.T) {
	p := New(words("codex exec --ephemeral hi"), nil, "")
	shown, held := tellsAs(t, p, agent.Progress{}, started,
		`{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Early."}}`,
		turn,
		`{"type":"item.completed","item":{"id":"item_1","type":"error","message":"model rerouted: a -> b (HighRisk)"}}`,
		`{"type":"item.started","item":{"id":"item_2","type":"mcp_tool_call","server":"lab","tool":"ping","status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"lab","tool":"ping","error":{"message":"no"},"status":"failed"}}`,
		`{"type":"item.started","item":{"id":"item_3","type":"web_search","query":"go"}}`,
		`{"type":"item.completed","item":{"id":"item_3","type":"web_search","query":"go"}}`,
		`{"type":"item.started","item":{"id":"item_4","type":"collab_tool_call","tool":"spawn_agent"}}`,
		`{"type":"item.started","item":{"id":"item_5","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}`,
		`{"type":"item.completed","item":{"id":"item_5","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}`,
		`{"type":"item.completed","item":{"id":"item_6","type":"file_change","changes":[{"path":"/x/y","kind":"add"}],"status":"failed"}}`,
		`{"type":"item.completed","item":{"id":"item_7","type":"command_execution","command":"rm","aggregated_output":" \n","status":"declined"}}`,
		`{"type":"item.completed","item":{"id":"item_8","type":"new_thing"}}`,
		`{"type":"error","message":"Reconnecting... waiting for network (Connection failed: x)"}`,
		`{"type":"error","message":"no"}`,
		`{"type":"turn.failed","error":{"message":"no"}}`)
	heldAgainst(t, shown, "OpenAI Codex\n--------\nsession id: "+thread+"\n--------\nuser\nhi\nwarning: Early.\nmodel rerouted: a -> b\n"+
		"mcp: lab/ping started\nmcp: lab/ping (failed)\nno\nweb search: go\nweb search: go\ncollab: SpawnAgent\n  ✓ one\n  • two\n"+
		"patch: failed\n/x/y\n declined:\nERROR: Reconnecting... waiting for network\n")
	heldAgainst(t, held, "ERROR: no\nERROR: no\n")
}

// With events for the caller there is nothing to be told, and neither where it was not asked for.
func TestProgress_NotAsked(t *testing.T) {
	for _, line := range []string{"codex exec --json hi", "codex exec --no-such-flag hi"} {
		shown, held := tellsAs(t, New(words(line), nil, ""), agent.Progress{}, started, turn, hello, completed)
		heldAgainst(t, shown+held, "")
	}
	p := New(words("codex exec hi"), nil, "")
	plan, _ := p.Plan(agent.Turn{})
	if info := p.Follow(plan).Line(agent.Line{Text: []byte(turn)}); info.Progress != nil {
		t.Error(info.Progress.Text(nil))
	}
}

// On a terminal an answer that was shown is not repeated; where it was not, it is not lost.
func TestProgress_OneScreen(t *testing.T) {
	for _, events := range [][]string{{started, turn, hello, completed}, {started, turn, completed}} {
		p := New(words("codex exec --ephemeral hi"), nil, "")
		plan, _ := p.Plan(agent.Turn{})
		plan.Progress = agent.Progress{Wanted: true, OneScreen: true}
		f := p.Follow(plan)
		for _, e := range events {
			f.Line(agent.Line{Text: []byte(e)})
		}
		f.Judge(verdict.Outcome{}, noon)
		var out strings.Builder
		f.Render(&out, agent.Text)
		heldAgainst(t, out.String(), "")
	}
}

func TestProgress_Colors(t *testing.T) {
	for line, want := range map[string]bool{"codex exec hi": true, "codex exec --color never hi": false, "codex exec --color=always hi": true} {
		shown, _ := tellsAs(t, New(words(line), nil, ""), agent.Progress{Colors: true}, started, turn)
		if strings.Contains(shown, "\x1b[36muser\x1b[0m") != want {
			t.Errorf("%s: %q", line, shown)
		}
	}
}

func TestProgress_Prompt(t *testing.T) {
	for line, want := range map[string]string{
		"codex exec hi":                                    "hi\n\n<stdin>\npears\n</stdin>",
		"codex exec -":                                     "pears",
		"codex exec":                                       "pears",
		"codex exec resume --last hi":                      "hi",
		"codex exec resume " + thread + " -":               "pears",
		"codex exec review":                                "current changes",
		"codex exec review --uncommitted":                  "current changes",
		"codex exec review --base main":                    "changes against 'main'",
		"codex exec review --commit 0123456789 --title It": "commit 0123456: It",
		"codex exec review --commit 0123456789":            "commit 0123456",
		"codex exec review -":                              "pears",
	} {
		l, _ := read(words(line)[1:])
		if got := promptOf(l, []byte("pears")); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// A command's directory is that of the call that asks for it, whatever the shell's quoting makes of its words. A model that
// writes scripts names it there.
func TestProgress_Directory(t *testing.T) {
	r := &progressRecord{cwd: "/src", calls: []toolCall{
		{"exec_command", `{"cmd":"echo \"it's\" $HOME","workdir":"/a/../b"}`},
		{"shell", `{"command":["bash","-lc","ls -l"],"workdir":"sub"}`},
		{"shell_command", `{"command":"pwd"}`},
		{"exec", "const a = await tools.exec_command({cmd: 'make', \"workdir\": \"/c\"});\nawait tools.exec_command({cmd: `make test`, workdir: '/c'})"},
		{"exec", "tools.exec_command({cmd: 'one', workdir: '/d'}); tools.exec_command({cmd: 'two', workdir: '/e'})"},
	}}
	for _, c := range [][2]string{
		{`/bin/bash -lc 'echo "it'\''s" $HOME'`, "/b"}, {"/bin/bash -lc 'ls -l'", "/src/sub"}, {"/bin/bash -lc pwd", "/src"},
		{"/bin/bash -lc make", "/c"}, {"/bin/bash -lc 'make test'", "/c"}, {"/bin/bash -lc one", "/src"}, {"/bin/bash -lc unheard", "/src"},
	} {
		if got := r.directory(c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

func TestSandboxText(t *testing.T) {
	r := &progressRecord{}
	for payload, want := range map[string]string{
		`"sandbox_policy":{"type":"danger-full-access"}`:                                                                                                                    "danger-full-access",
		`"sandbox_policy":{"type":"read-only","network_access":true}`:                                                                                                       "read-only (network access enabled)",
		`"sandbox_policy":{"type":"external-sandbox","network_access":"enabled"}`:                                                                                           "external-sandbox (network access enabled)",
		`"workspace_roots":["/w","/x"],"sandbox_policy":{"type":"workspace-write","exclude_slash_tmp":true}`:                                                                "workspace-write [workdir, $TMPDIR, /x]",
		`"permission_profile":{"type":"disabled"}`:                                                                                                                          "danger-full-access",
		`"permission_profile":{"type":"managed","network":"restricted","file_system":{"entries":[{"access":"read"}]}}`:                                                      "read-only",
		`"permission_profile":{"type":"managed","network":"enabled","file_system":{"entries":[{"access":"write","path":{"type":"special","value":{"kind":"slash_tmp"}}}]}}`: "workspace-write [workdir, /tmp] (network access enabled)",
		`"sandbox_policy":7`: "",
	} {
		r.take([]byte(`{"type":"turn_context","payload":{"cwd":"/w","approval_policy":"never",` + payload + `}}`))
		if got := r.heading(settings{}).sandbox; got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
}

// The difference of two texts, applied to the one, is the other, and taken back from that it is the one again.
func TestUnified(t *testing.T) {
	heldAgainst(t, unified("a/f", "b/f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n"),
		"--- a/f\n+++ b/f\n@@ -2,11 +2,11 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n\\ No newline at end of file\n+12\n")
	heldAgainst(t, unified("/dev/null", "b/f", "", "x\n"), "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+x\n")
	heldAgainst(t, unified("a", "b", "x\n", "x\n"), "")
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(30) {
			fmt.Fprintf(&b, "%d\n", random.IntN(6))
		}
		return strings.TrimSuffix(b.String(), strings.Repeat("\n", random.IntN(2)))
	}
	for range 5000 {
		old, now := text(), text()
		_, hunks, _ := strings.Cut(unified("a", "b", old, now), "+++ b\n")
		if got, ok := patchText(old, hunks, false); !ok || got != now {
			t.Fatalf("%q to %q: %q, %v by\n%s", old, now, got, ok, hunks)
		}
		if got, ok := patchText(now, hunks, true); !ok || got != old {
			t.Fatalf("%q from %q: %q, %v by\n%s", old, now, got, ok, hunks)
		}
	}
}

// A patch to a file that has been changed since, or is gone, ends the account: nothing wrong is shown.
func TestTurnDiff_Lost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var d turnDiff
	os.WriteFile(path, []byte("something else\n"), 0o600)
	d.apply(map[string]fileChange{path: {Type: "update", Unified: "@@ -1 +1 @@\n-a\n+b\n"}}, nil)
	d.apply(map[string]fileChange{path: {Type: "add", Content: "x\n"}}, nil)
	if got := d.text(filepath.Dir(path)); got != "" {
		t.Error(got)
	}
}

// A patch is told of when later ones have been made already: each difference is what it was.
func TestTurnDiff_Late(t *testing.T) {
	dir := t.TempDir()
	path, moved := filepath.Join(dir, "f"), filepath.Join(dir, "g")
	os.WriteFile(moved, []byte("A\nB\nC\n"), 0o600)
	patches := []map[string]fileChange{
		{path: {Type: "update", Unified: "@@ -1,2 +1,2 @@\n-a\n+A\n b\n"}},
		{path: {Type: "update", Unified: "@@ -1,3 +1,3 @@\n A\n-b\n+B\n c\n", MovePath: &moved}},
		{moved: {Type: "update", Unified: "@@ -2,2 +2,2 @@\n B\n-c\n+C\n"}},
	}
	var d turnDiff
	for i, want := range []string{"a/f b/f -a\n+A\n b\n c\n", "a/f b/g -a\n-b\n+A\n+B\n c\n", "a/f b/g -a\n-b\n-c\n+A\n+B\n+C\n"} {
		d.apply(patches[i], patches[i+1:])
		text := d.text(dir)
		head, hunk, _ := strings.Cut(text, "@@ -1,3 +1,3 @@\n")
		head, _, _ = strings.Cut(strings.TrimPrefix(head, "diff --git "), "\n")
		heldAgainst(t, head+" "+hunk, want)
	}
}

// FuzzProgress: whatever the events and the record say, nothing panics, and what is told is whole lines.
func FuzzProgress(f *testing.F) {
	f.Add(strings.Join([]string{started, turn, warning, thought, toolBegan, toolEnded, hello, completed}, "\n"), `{"type":"turn_context","payload":{"cwd":"/w","approval_policy":{"x":1},"sandbox_policy":{"type":"workspace-write"}}}`)
	f.Add(started+"\n"+turn+"\n"+`{"type":"item.completed","item":{"type":"file_change","status":"completed","changes":[{"path":"f"}]}}`,
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","status":"completed","changes":{"f":{"type":"update","unified_diff":"@@ -1 +1 @@\n-a\n+b\n","move_path":"g"},"h":{"type":"add","content":"x"}}}}}`)
	f.Add(started+"\n"+turn+"\n"+toolBegan, `{"type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"x\"}]}"}}`+"\n"+
		`{"type":"response_item","payload":{"type":"custom_tool_call","name":"exec","input":"workdir: '/x'"}}`)
	f.Fuzz(func(t *testing.T, events, record string) {
		p := New(words("codex exec --ephemeral hi"), nil, "")
		plan, _ := p.Plan(agent.Turn{})
		plan.Progress = agent.Progress{Wanted: true}
		follower := p.Follow(plan).(*follower)
		for i, e := range strings.Split(events, "\n") {
			if i == 2 {
				for line := range strings.Lines(record) {
					follower.progress.record.take([]byte(line))
				}
			}
			if info := follower.Line(agent.Line{Text: []byte(e)}); info.Progress != nil {
				if text := info.Progress.Text(nil); text != "" && !strings.HasSuffix(text, "\n") {
					t.Errorf("%q", text)
				}
			}
		}
	})
}

// FuzzPatchText: what does not fit is refused, and nothing panics.
func FuzzPatchText(f *testing.F) {
	f.Add("a\nb\n", "@@ -1,2 +1 @@\n a\n-b\n")
	f.Add("", "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n")
	f.Fuzz(func(t *testing.T, text, diff string) {
		patchText(text, diff, false)
		patchText(text, diff, true)
		diffLines(slices.Collect(strings.Lines(text)), slices.Collect(strings.Lines(diff)))
	})
}
