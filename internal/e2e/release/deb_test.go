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
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A package installs, works, is upgraded while it runs, and is purged without a trace outside of homes.
func TestDeb(t *testing.T) {
	t.Parallel()
	root := chroot(t)
	need(t, true, "dpkg", "unshare")
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := files(t, root)
	dpkg(t, root, "-i", file(t, older, ".deb"))
	if out, err := inside(root, "belay", "--version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "belay "+older+" ") {
		t.Fatalf("%v\n%s", err, out)
	}

	// A run is under way while the package is upgraded, and goes on with its next attempt.
	under := inside(root, "belay", "run", "--max-retries", "1", "--base-delay", "0", "--", "sh", "-c",
		"echo begun >&2; while [ ! -e /tmp/go ]; do sleep 0.05; done; [ -e /tmp/again ] && echo done && exit; : > /tmp/again; exit 1")
	stderr, err := under.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	under.Stdout = &said
	if err := under.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	dpkg(t, root, "-i", file(t, current, ".deb"))
	if out, err := inside(root, "belay", "ps").CombinedOutput(); err != nil || !strings.Contains(string(out), "running") {
		t.Errorf("the new one does not see the run of the old one: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(root, "tmp/go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := under.Wait(); err != nil || said.String() != "done\n" {
		t.Errorf("%v: %q", err, said.String())
	}
	out, err := inside(root, "belay", "log", "--json").CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"attempts":2`) && !strings.Contains(string(out), `"attempts": 2`) {
		t.Errorf("%v\n%s", err, out)
	}

	for _, name := range []string{"tmp/go", "tmp/again"} {
		os.Remove(filepath.Join(root, name))
	}
	dpkg(t, root, "-P", "belay")
	if after := files(t, root); !slices.Equal(after, before) {
		t.Errorf("left: %v", slices.DeleteFunc(after, func(name string) bool { return slices.Contains(before, name) }))
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

// The rpm has the same files. Its tools tell whether it is whole.
func TestRPM(t *testing.T) {
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL")
	}
	need(t, false, "rpm")
	run(t, "rpm", "-K", "--nosignature", file(t, current, ".rpm"))
	in := run(t, "rpm", "-qpl", "--nosignature", file(t, current, ".rpm"))
	for _, name := range []string{"/usr/bin/belay", "/usr/bin/belayd", "/usr/share/man/man1/belay.1.gz", "/usr/share/bash-completion/completions/belay"} {
		if !strings.Contains(in, name+"\n") {
			t.Errorf("%s is missing", name)
		}
	}
}
