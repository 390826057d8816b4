package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// clone is a work tree with one commit, which its origin has.
func clone(t testing.TB) (dir, origin string) {
	t.Helper()
	root := t.TempDir()
	dir, origin = filepath.Join(root, "clone"), filepath.Join(root, "origin.git")
	fleettest.Git(t, root, "init", "-q", "--bare", "-b", "main", origin)
	fleettest.Git(t, root, "clone", "-q", origin, dir)
	fleettest.Put(t, dir, "a.txt", "one\n")
	fleettest.Put(t, dir, "docs/b.txt", "two\n")
	fleettest.Git(t, dir, "add", ".")
	fleettest.Git(t, dir, "commit", "-q", "-m", "first")
	fleettest.Git(t, dir, "push", "-q", "origin", "HEAD:main")
	return dir, origin
}

func TestParseRepository(t *testing.T) {
	for _, text := range []string{"https://git.example.com/acme/site.git", "http://localhost:3000/a", "ssh://git@example.com:22/a/b", "git@example.com:acme/site.git", "example.com:acme/site", "/srv/git/site.git",
		"file:///srv/git/site.git", "/srv/git/with space"} {
		if _, err := ParseRepository(text); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "-u/tmp/x", "--upload-pack=/tmp/x", "ext::sh -c id", "ext::sh", "fd::17", "git@example.com:-oProxyCommand=x", "ssh://-oProxyCommand=x/a", "-oProxyCommand=x:a", "site", "../site", "./a",
		"https://kim:secret@example.com/a", "https://token@example.com/a", "ssh://kim:secret@example.com/a", "https://example.com/acme/../evil/a", "git@example.com:acme/../evil", "https://example.com/acme/%2e%2e/evil",
		"https://example.com/a?x", "https://example.com/a#x", "https:///a", "https://example.com", "ftp://example.com/a", "transport::https://example.com/a", "https://example.com/a b", "https://example.com/a\nb", "/srv/a\x00b", "file://host/a",
		"git@example.com:a\\b", strings.Repeat("/a", 2000)} {
		if r, err := ParseRepository(text); err == nil {
			t.Errorf("%q is taken for %q", text, r)
		}
	}
}

func TestRepository_AllowedBy(t *testing.T) {
	root := t.TempDir()
	os.MkdirAll(filepath.Join(root, "git", "site"), 0o700)
	os.MkdirAll(filepath.Join(root, "other"), 0o700)
	os.Symlink(filepath.Join(root, "other"), filepath.Join(root, "git", "link"))
	allowed := []string{"https://example.com/acme/", "git@example.com:acme/site.git"}
	for text, want := range map[string]bool{
		"https://example.com/acme/site":                      true,
		"https://example.com/acme/x/site":                    true,
		"https://example.com/acme-evil/site":                 false,
		"https://example.com.evil/acme/site":                 false,
		"http://example.com/acme/site":                       false,
		"git@example.com:acme/site":                          true,
		"git@example.com:acme/site/":                         true,
		"git@example.com:acme/site2":                         false,
		"evil@example.com:acme/site":                         false,
		filepath.Join(root, "git", "site"):                   true,
		"file://" + filepath.Join(root, "git", "site"):       true,
		filepath.Join(root, "git", "link"):                   false,
		filepath.Join(root, "other"):                         false,
		filepath.Join(root, "git") + "/../other":             false,
		"file://" + filepath.Join(root, "git") + "/../other": false,
		filepath.Join(root, "git", "missing"):                false,
	} {
		r, err := ParseRepository(text)
		must.OK(t, err)
		if got := r.AllowedBy(allowed, []string{filepath.Join(root, "git")}); got != want {
			t.Errorf("%s: %v", text, got)
		}
		if r.AllowedBy(nil, nil) {
			t.Errorf("%s is allowed where nothing is", text)
		}
	}
}

func TestCommit(t *testing.T) {
	dir, origin := clone(t)
	head := fleettest.Git(t, dir, "rev-parse", "HEAD")
	want := fleetpipe.Files{Repository: origin, Commit: head, Dir: "docs"}
	fleettest.Put(t, dir, "results.jsonl", "{}")
	got, err := Commit(t.Context(), filepath.Join(dir, "docs"))
	if err != nil || *got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	t.Run("a token in the URL stays here", func(t *testing.T) {
		fleettest.Git(t, dir, "remote", "set-url", "origin", "https://kim:ghp_secret@example.com/acme/site.git")
		defer fleettest.Git(t, dir, "remote", "set-url", "origin", origin)
		if got, err := Commit(t.Context(), dir); err != nil || got.Repository != "https://example.com/acme/site.git" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	fails := func(name, dir, want string) {
		t.Helper()
		if got, err := Commit(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	fails("not git", t.TempDir(), "not in a git work tree")
	fleettest.Put(t, dir, "a.txt", "changed\n")
	fails("changes", dir, "not committed (a.txt)")
	fleettest.Git(t, dir, "commit", "-q", "-a", "-m", "second")
	fails("not pushed", dir, "is on no branch of origin")
	fleettest.Git(t, dir, "push", "-q", "origin", "HEAD:main")
	if _, err := Commit(t.Context(), dir); err != nil {
		t.Error(err)
	}
	fleettest.Git(t, dir, "remote", "remove", "origin")
	if got, err := Commit(t.Context(), dir); err != nil || got.Repository != filepath.Join(dir, ".git") {
		t.Errorf("without a remote: %+v, %v", got, err)
	}
}

func TestCheckOut(t *testing.T) {
	dir, origin := clone(t)
	ran := filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\necho $0 >> " + ran + "\ncat\n"
	// What a user may have set up for all repositories, and what a repository may ask for.
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	for _, name := range []string{"hooks/post-checkout", "hooks/post-merge", "hooks/reference-transaction", "template/hooks/post-checkout", "filter", "monitor"} {
		fleettest.Put(t, home, name, script)
		os.Chmod(filepath.Join(home, name), 0o700)
	}
	fleettest.Put(t, home, ".gitconfig", "[core]\nhooksPath = "+home+"/hooks\nfsmonitor = "+home+"/monitor\n[init]\ntemplateDir = "+home+"/template\n[filter \"evil\"]\nsmudge = "+home+"/filter\nclean = "+home+"/filter\nprocess = "+home+"/filter\nrequired = true\n")
	os.MkdirAll(filepath.Join(origin, "hooks"), 0o700)
	fleettest.Put(t, origin, "hooks/post-checkout", script)
	os.Chmod(filepath.Join(origin, "hooks/post-checkout"), 0o700)
	fleettest.Put(t, dir, ".gitattributes", "* filter=evil\n")
	fleettest.Put(t, dir, ".gitmodules", "[submodule \"m\"]\npath = m\nurl = "+origin+"\n")
	os.Symlink("/", filepath.Join(dir, "out"))
	fleettest.Git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+fleettest.Git(t, dir, "rev-parse", "HEAD")+",m")
	fleettest.Git(t, dir, "add", ".gitattributes", ".gitmodules", "out")
	fleettest.Git(t, dir, "commit", "-q", "-m", "evil")
	fleettest.Git(t, dir, "push", "-q", "origin", "HEAD:main")
	head := fleettest.Git(t, dir, "rev-parse", "HEAD")
	cache := &Cache{Dir: filepath.Join(t.TempDir(), "git")}
	get := func(f fleetpipe.Files) (string, error) {
		return cache.CheckOut(t.Context(), &f, filepath.Join(t.TempDir(), "work"))
	}
	got, err := get(fleetpipe.Files{Repository: origin, Commit: head, Dir: "docs"})
	must.OK(t, err)
	if text, err := os.ReadFile(filepath.Join(got, "b.txt")); err != nil || string(text) != "two\n" || filepath.Base(got) != "docs" {
		t.Errorf("%s: %q, %v", got, text, err)
	}
	if list, _ := os.ReadDir(filepath.Join(filepath.Dir(got), "m")); len(list) > 0 {
		t.Error("a submodule was checked out")
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("was run: %s", text)
	}
	if url := fleettest.Git(t, got, "remote", "get-url", "origin"); url != origin {
		t.Errorf("origin is %s", url)
	}
	// What a job does stays its own.
	fleettest.Put(t, got, "b.txt", "changed\n")
	fleettest.Git(t, got, "commit", "-q", "-a", "-m", "of the job")
	fleettest.Git(t, got, "branch", "job")
	if again, err := get(fleetpipe.Files{Repository: origin, Commit: head}); err != nil {
		t.Error(err)
	} else if text, _ := os.ReadFile(filepath.Join(again, "docs/b.txt")); string(text) != "two\n" || strings.Contains(fleettest.Git(t, again, "branch", "-a"), "job") {
		t.Errorf("%q", text)
	}
	// A later commit is fetched.
	fleettest.Put(t, dir, "a.txt", "later\n")
	fleettest.Git(t, dir, "commit", "-q", "-a", "-m", "later")
	later := fleettest.Git(t, dir, "rev-parse", "HEAD")
	_, err = get(fleetpipe.Files{Repository: origin, Commit: later})
	if err == nil || !strings.Contains(err.Error(), "is on no branch and no tag of "+origin) {
		t.Errorf("a commit that was not pushed: %v", err)
	}
	// A commit that the server has, but on no branch.
	fleettest.Git(t, dir, "push", "-q", "origin", "HEAD:refs/pull/1/head")
	if _, err = get(fleetpipe.Files{Repository: origin, Commit: later}); err == nil {
		t.Error("a commit on no branch is checked out")
	}
	fleettest.Git(t, dir, "push", "-q", "origin", "HEAD:main")
	if _, err = get(fleetpipe.Files{Repository: origin, Commit: later}); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]fleetpipe.Files{
		"a branch":                   {Repository: origin, Commit: "main"},
		"an option":                  {Repository: origin, Commit: "--orphan=x"},
		"an expression":              {Repository: origin, Commit: head + "^"},
		"another file of git's":      {Repository: origin, Commit: head + ":a.txt"},
		"a program":                  {Repository: "ext::touch " + ran, Commit: head},
		"an option as the URL":       {Repository: "--upload-pack=touch " + ran, Commit: head},
		"a directory above":          {Repository: origin, Commit: head, Dir: "../.."},
		"an absolute directory":      {Repository: origin, Commit: head, Dir: "/tmp"},
		"a link that leads out":      {Repository: origin, Commit: head, Dir: "out/tmp"},
		"a directory that is a file": {Repository: origin, Commit: head, Dir: "a.txt"},
		"no directory":               {Repository: origin, Commit: head, Dir: "none"},
		"no repository":              {Repository: origin + "-none", Commit: head},
	} {
		if dir, err := get(f); err == nil {
			t.Errorf("%s: %s", name, dir)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("was run: %s", text)
	}
}

// A fetch that was killed leaves locks of git's behind, which must not stop the next one. Jobs that work on clones of the repository keep its objects meanwhile.
func TestCheckOut_AfterAKill(t *testing.T) {
	dir, origin := clone(t)
	first := fleettest.Git(t, dir, "rev-parse", "HEAD")
	cache := &Cache{Dir: filepath.Join(t.TempDir(), "git")}
	f := &fleetpipe.Files{Repository: origin, Commit: first}
	work, err := cache.CheckOut(t.Context(), f, filepath.Join(t.TempDir(), "work"))
	must.OK(t, err)
	names, _ := filepath.Glob(filepath.Join(cache.Dir, "*"))
	if len(names) != 1 {
		t.Fatal(names)
	}
	fleettest.Put(t, names[0], "refs/heads/main.lock", "")
	fleettest.Put(t, names[0], "refs/heads/new.lock", "")
	os.WriteFile(names[0]+fetching, nil, 0o600)
	// The first commit is on no branch any more: a repository that is fetched anew does not have it.
	fleettest.Git(t, dir, "checkout", "-q", "--orphan", "other")
	fleettest.Git(t, dir, "commit", "-q", "-m", "later")
	fleettest.Git(t, dir, "push", "-q", "-f", "origin", "HEAD:main", "HEAD:new")
	f.Commit = fleettest.Git(t, dir, "rev-parse", "HEAD")
	cache.Sweep() // as the next start does
	if _, err := cache.CheckOut(t.Context(), f, filepath.Join(t.TempDir(), "work")); err != nil {
		t.Error(err)
	}
	if got := fleettest.Git(t, work, "log", "--format=%H"); got != first {
		t.Errorf("the job that is still at work has %s", got)
	}
}

// A repository that is damaged beyond locks is fetched anew.
func TestCheckOut_AfterADamage(t *testing.T) {
	dir, origin := clone(t)
	cache := &Cache{Dir: filepath.Join(t.TempDir(), "git")}
	f := &fleetpipe.Files{Repository: origin, Commit: fleettest.Git(t, dir, "rev-parse", "HEAD")}
	if _, err := cache.CheckOut(t.Context(), f, filepath.Join(t.TempDir(), "work")); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(cache.Dir, "*"))
	os.WriteFile(names[0]+fetching, nil, 0o600)
	os.RemoveAll(filepath.Join(names[0], "objects"))
	fleettest.Put(t, names[0], "objects", "")
	if _, err := cache.CheckOut(t.Context(), f, filepath.Join(t.TempDir(), "work")); err != nil {
		t.Error(err)
	}
}
