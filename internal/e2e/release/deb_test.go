//go:build linux

package release

import (
	"bufio"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// dpkg calls Debian's own tool for a system in a directory.
func dpkg(t *testing.T, root string, args ...string) {
	t.Helper()
	run(t, "dpkg", append([]string{"--root=" + root, "--log=/dev/null", "--force-not-root", "--force-script-chrootless"}, args...)...)
}

// files are all files below a directory, but what dpkg keeps of its own, and what a kernel has there.
func files(t *testing.T, root string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if rel == "var/lib/dpkg" || rel == "proc" || rel == "dev" || rel == "root" {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			list = append(list, rel)
		}
		return err
	})
	must.OK(t, err)
	return list
}

// system is a root with dpkg's own files, in which packages are installed.
func system(t *testing.T) string {
	t.Helper()
	root := chroot(t)
	need(t, true, "dpkg", "unshare")
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		must.OK(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	for _, name := range []string{"status", "available"} {
		must.OK(t, os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644))
	}
	return root
}

// says runs a command in a root, which has to succeed, and returns what it prints.
func says(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := inside(root, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A package installs, works, is upgraded while it runs, and is purged without a trace outside of homes.
func TestDeb(t *testing.T) {
	t.Parallel()
	root := system(t)
	before := files(t, root)
	dpkg(t, root, "-i", file(t, older, ".deb"))
	if said := says(t, root, "belay", "--version"); !strings.HasPrefix(said, "belay "+older+" ") {
		t.Fatal(said)
	}
	for _, name := range []string{"THIRD-PARTY-NOTICES.txt.gz", "README.md", "docs/recipes.md", "docs/limit-light.svg"} {
		if _, err := os.Stat(filepath.Join(root, "usr/share/doc/belay", name)); err != nil {
			t.Error(err)
		}
	}
	c := newClient(t, root)
	c.install()
	c.connect()
	says(t, root, "belay", "gates", "hold", "api", "--until", "1h")

	// A run is under way while the package is upgraded, and goes on with its next attempt.
	under := inside(root, "belay", "run", "--max-retries", "1", "--base-delay", "0", "--", "sh", "-c",
		"echo begun >&2; while [ ! -e /tmp/go ]; do sleep 0.05; done; [ -e /tmp/again ] && echo done && exit; : > /tmp/again; exit 1")
	stderr, err := under.StderrPipe()
	must.OK(t, err)
	var said strings.Builder
	under.Stdout = &said
	must.OK(t, under.Start())
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	dpkg(t, root, "-i", file(t, current, ".deb"))
	if said := says(t, root, "belay", "--version"); !strings.HasPrefix(said, "belay "+current+" ") {
		t.Error(said)
	}
	for what, args := range map[string][]string{"running": {"belay", "ps"}, "set by hand": {"belay", "gates"}} {
		if said := says(t, root, args...); !strings.Contains(said, what) {
			t.Errorf("the new one does not see what the old one has begun: %s", said)
		}
	}
	c.worksOn()
	must.OK(t, os.WriteFile(filepath.Join(root, "tmp/go"), nil, 0o644))
	for lines.Scan() {
	}
	if err := under.Wait(); err != nil || said.String() != "done\n" {
		t.Errorf("%v: %q", err, said.String())
	}
	if out := says(t, root, "belay", "log", "--json"); !strings.Contains(out, `"attempts":2`) {
		t.Error(out)
	}

	for _, name := range []string{"tmp/go", "tmp/again"} {
		os.Remove(filepath.Join(root, name))
	}
	c.uninstall()
	dpkg(t, root, "-P", "belay")
	if after := files(t, root); !slices.Equal(after, before) {
		t.Errorf("left: %v", slices.DeleteFunc(after, func(name string) bool { return slices.Contains(before, name) }))
	}
	if _, err := os.Stat(filepath.Join(root, "root/.local/state/belay/log.jsonl")); err != nil {
		t.Errorf("what is in a home is not the package's: %v", err)
	}
}

// Lintian has no error to tell.
func TestDeb_Lintian(t *testing.T) {
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL: it takes a hundred packages to install")
	}
	need(t, false, "lintian")
	out, err := exec.Command("lintian", "--allow-root", "--fail-on", "error", file(t, current, ".deb")).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The script that installs and the formula for Homebrew have no mistakes that can be found without running them.
func TestLint(t *testing.T) {
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL")
	}
	need(t, false, "shellcheck", "ruby")
	run(t, "shellcheck", "-s", "sh", filepath.Join(made(t, current), "install.sh"))
	run(t, "shellcheck", "../../../scripts/action", "../../../scripts/notes")
	run(t, "ruby", "-wc", filepath.Join(made(t, current), "belay.rb"))
}

// The rpm has the same files. Its tools tell whether it is whole.
func TestRPM(t *testing.T) {
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL")
	}
	need(t, false, "rpm")
	run(t, "rpm", "-K", "--nosignature", file(t, current, ".rpm"))
	in := run(t, "rpm", "-qpl", "--nosignature", file(t, current, ".rpm"))
	for _, name := range []string{"/usr/bin/belay", "/usr/bin/belayd", "/usr/share/man/man1/belay.1.gz", "/usr/share/bash-completion/completions/belay",
		"/usr/share/doc/belay/docs/recipes.md", "/usr/share/licenses/belay/LICENSE", "/usr/share/doc/belay/THIRD-PARTY-NOTICES.txt.gz"} {
		if !strings.Contains(in, name+"\n") {
			t.Errorf("%s is missing", name)
		}
	}
}
