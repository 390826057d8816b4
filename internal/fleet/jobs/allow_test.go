package jobs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

func TestAllow(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	root := t.TempDir()
	work, outside := filepath.Join(root, "work"), filepath.Join(root, "outside")
	for _, dir := range []string{filepath.Join(work, "a"), outside, filepath.Join(root, "work-too")} {
		os.MkdirAll(dir, 0o700)
	}
	os.Symlink(outside, filepath.Join(work, "link"))
	agent := []string{"claude", "-p"}
	allow := Allow{Profiles: []string{"claude"}, Roots: []string{work}, Env: []string{"LANG"}}
	withFiles := Allow{Profiles: []string{"claude"}, Roots: []string{work}, Repositories: []string{"https://example.com/acme/"}, Archives: true}
	plain := Allow{Profiles: []string{"codex"}, Plain: []string{"claude"}, Roots: []string{work}, Repositories: []string{"https://example.com/acme/"}, Archives: true}
	hooks := []string{"claude", "-p", "--settings", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"id > x"}]}]}}`}
	name, command := strings.Repeat("0123456789abcdef", 4), " /deploy the site"
	for name, test := range map[string]struct {
		allow Allow
		job   fleetpipe.Job
		want  string // empty if it is allowed
	}{
		"nothing by default":       {Allow{}, fleetpipe.Job{Args: agent}, "claude is not among"},
		"a profile":                {allow, fleetpipe.Job{Args: agent}, ""},
		"another command":          {allow, fleetpipe.Job{Args: []string{"sh", "-c", "id"}}, "sh is not among"},
		"another file of the name": {allow, fleetpipe.Job{Args: []string{"/tmp/claude", "-p"}}, "/tmp/claude is not among"},
		"under another name":       {allow, fleetpipe.Job{Args: []string{"sh"}, Profile: "claude"}, "sh is not among"},
		"as another":               {allow, fleetpipe.Job{Args: agent, Profile: "generic"}, "claude is not among"},
		"any command":              {Allow{Profiles: []string{"generic"}}, fleetpipe.Job{Args: []string{"sh"}}, ""},
		"a directory":              {allow, fleetpipe.Job{Args: agent, Dir: filepath.Join(work, "a")}, ""},
		"the root":                 {allow, fleetpipe.Job{Args: agent, Dir: work}, ""},
		"outside":                  {allow, fleetpipe.Job{Args: agent, Dir: outside}, "is not in a directory"},
		"a name that begins so":    {allow, fleetpipe.Job{Args: agent, Dir: work + "-too"}, "is not in a directory"},
		"upward":                   {allow, fleetpipe.Job{Args: agent, Dir: work + "/../outside"}, "is not in a directory"},
		"through a link":           {allow, fleetpipe.Job{Args: agent, Dir: filepath.Join(work, "link")}, "is not in a directory"},
		"relative":                 {allow, fleetpipe.Job{Args: agent, Dir: "work"}, "there is no directory"},
		"a variable":               {allow, fleetpipe.Job{Args: agent, Env: map[string]string{"LANG": "C"}}, ""},
		"another variable":         {allow, fleetpipe.Job{Args: agent, Env: map[string]string{"PATH": "/tmp"}}, "jobs may not set PATH"},
		"a flag":                   {allow, fleetpipe.Job{Args: agent, Flags: map[string]string{"timeout": "1m"}}, ""},
		"another flag":             {allow, fleetpipe.Job{Args: agent, Flags: map[string]string{"result-file": "/etc/passwd"}}, "jobs may not set --result-file"},
		"a fallback":               {Allow{Profiles: []string{"claude", "codex"}}, fleetpipe.Job{Args: agent, Flags: map[string]string{"fallback": "codex:small"}}, ""},
		"another fallback":         {Allow{Profiles: []string{"claude", "codex"}}, fleetpipe.Job{Args: agent, Flags: map[string]string{"fallback": "codex, gemini"}}, "jobs may not fall back to gemini"},
		"any fallback":             {Allow{Profiles: []string{"generic"}}, fleetpipe.Job{Args: agent, Flags: map[string]string{"fallback": "codex"}}, ""},
		"hooks":                    {allow, fleetpipe.Job{Args: hooks}, ""}, // an agent that is allowed runs what it is told to
		"plain":                    {plain, fleetpipe.Job{Args: agent}, ""},
		"plain with hooks":         {plain, fleetpipe.Job{Args: hooks}, "jobs may run claude only plain here, and not with --settings"},
		"plain with a command":     {plain, fleetpipe.Job{Args: agent, Prompt: &command}, "jobs may run claude only plain here, and not with /deploy"},
		"plain in a directory":     {plain, fleetpipe.Job{Args: agent, Dir: work}, ""},
		"plain with an archive":    {plain, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Archive: name}}, "only plain here, and not on files that they bring"},
		"plain with a commit":      {plain, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: "https://example.com/acme/site", Commit: name}}, "only plain here, and not on files that they bring"},
		"plain under a path":       {plain, fleetpipe.Job{Args: []string{"/tmp/claude", "-p"}}, "/tmp/claude is not among"},
		"plain, and as it is":      {Allow{Profiles: []string{"claude"}, Plain: []string{"claude"}}, fleetpipe.Job{Args: hooks}, ""},
		"plain with another model": {plain, fleetpipe.Job{Args: agent, Flags: map[string]string{"fallback": "claude:haiku"}}, ""},
		"plain with a fallback":    {plain, fleetpipe.Job{Args: agent, Flags: map[string]string{"fallback": "codex"}}, "jobs may not fall back to codex"},
		"a fallback to plain":      {plain, fleetpipe.Job{Args: []string{"codex", "exec"}, Flags: map[string]string{"fallback": "claude"}}, "jobs may not fall back to claude"},
		"no gate":                  {allow, fleetpipe.Job{Args: agent, Flags: map[string]string{"no-gate": "true"}}, "jobs may not set --no-gate"},
		"no command":               {allow, fleetpipe.Job{}, "no content"},
		"an archive":               {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Archive: name}}, ""},
		"no archives":              {allow, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Archive: name}}, "may not bring files"},
		"another name of a file":   {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Archive: "../../" + name[6:]}}, "gone, or were changed"},
		"an archive and more":      {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Archive: name, Dir: "/etc"}}, "gone, or were changed"},
		"an archive and a path":    {withFiles, fleetpipe.Job{Args: agent, Dir: outside, Files: &fleetpipe.Files{Archive: name}}, "is not in a directory"},
		"a commit":                 {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: "https://example.com/acme/site", Commit: name}}, ""},
		"a commit of a shared one": {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: work, Commit: name[:40]}}, ""},
		"another repository":       {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: "https://example.com/evil/site", Commit: name}}, "not a repository that jobs may use"},
		"one outside":              {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: outside, Commit: name}}, "not a repository that jobs may use"},
		"no repositories":          {allow, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: "https://example.com/acme/site", Commit: name}}, "not a repository that jobs may use"},
		"a program":                {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: "ext::sh -c id", Commit: name}}, "is not a repository"},
		"a revision":               {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{Repository: "https://example.com/acme/site", Commit: "-f"}}, "not the full name"},
		"no files":                 {withFiles, fleetpipe.Job{Args: agent, Files: &fleetpipe.Files{}}, "is not a repository"},
	} {
		test.allow.Restrict = config.ForJob
		err := test.allow.check(&test.job)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belay", "fleet.key")
	one, made, err := MakeKey(path)
	if err != nil || !made {
		t.Fatal(made, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info.Mode(), err)
	}
	must.OK(t, os.Chmod(path, 0o644))
	if _, err := ReadKey(path); err != nil {
		t.Errorf("a key that was copied without umask 077: %v", err) // it has worked in earlier versions
	}
	must.OK(t, os.Chmod(path, 0o600))
	again, made, err := MakeKey(path)
	if err != nil || made || again.mark != one.mark {
		t.Fatal(made, err)
	}
	other, _, err := MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	must.OK(t, err)
	text := "the prompt"
	sealed, err := one.seal([]byte(text), "batch", "task")
	if err != nil || strings.Contains(string(sealed), "prompt") {
		t.Fatal(err, sealed)
	}
	if got, err := again.open(sealed, "batch", "task"); err != nil || string(got) != text {
		t.Error(err, got)
	}
	plain, _ := (*Key)(nil).seal([]byte(text), "batch", "task")
	if got, err := (*Key)(nil).open(plain, "batch", "task"); err != nil || string(got) != text {
		t.Error(err, got)
	}
	damaged := append([]byte{}, sealed...)
	damaged[len(damaged)-1] ^= 1
	for name, try := range map[string]func() ([]byte, error){
		"another key":          func() ([]byte, error) { return other.open(sealed, "batch", "task") },
		"no key":               func() ([]byte, error) { return (*Key)(nil).open(sealed, "batch", "task") },
		"the payload of other": func() ([]byte, error) { return one.open(sealed, "batch", "other") },
		"damaged":              func() ([]byte, error) { return one.open(damaged, "batch", "task") },
		"not encrypted":        func() ([]byte, error) { return one.open(plain, "batch", "task") },
		"empty":                func() ([]byte, error) { return one.open(nil, "batch", "task") },
		"short":                func() ([]byte, error) { return one.open([]byte{sealed[0], 1}, "batch", "task") },
	} {
		if got, err := try(); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
