//go:build linux

package release

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// unpack unpacks the archive, and returns the directory in it.
func unpack(t *testing.T, dir string) string {
	t.Helper()
	run(t, "tar", "-xzf", file(t, current, ".tar.gz"), "-C", dir)
	return filepath.Join(dir, "belay_"+current+"_linux_"+runtime.GOARCH)
}

func TestArchive(t *testing.T) {
	t.Parallel()
	top := unpack(t, t.TempDir())
	for _, name := range []string{"bin/belay", "bin/belayd", "share/man/man1/belay.1", "share/man/man1/belay-run.1", "share/man/man1/belayd.1",
		"share/completions/belay.bash", "share/completions/_belay", "share/completions/belay.fish", "README.md", "LICENSE", "CHANGELOG.md", "THIRD-PARTY-NOTICES.txt",
		"docs/README.md", "docs/recipes.md", "docs/limit-dark.svg", "docs/grafana.json", "examples/config.toml", "CONTRIBUTING.md", "SECURITY.md"} {
		if info, err := os.Stat(filepath.Join(top, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	cmd := exec.Command("sha256sum", "--quiet", "-c", "checksums.txt")
	cmd.Dir = made(t, current)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// checksums.txt lists each file that is uploaded, and no other.
	listed, err := os.ReadFile(filepath.Join(made(t, current), "checksums.txt"))
	must.OK(t, err)
	entries, err := os.ReadDir(made(t, current))
	must.OK(t, err)
	for _, e := range entries {
		if e.Name() != "checksums.txt" && e.Type().IsRegular() && !strings.Contains(string(listed), "  "+e.Name()+"\n") {
			t.Errorf("checksums.txt does not list %s", e.Name())
		}
	}
	if said := run(t, filepath.Join(top, "bin/belay"), "--version"); !strings.HasPrefix(said, "belay "+current+" (commit ") || !strings.Contains(said, runtime.Version()) {
		t.Errorf("%s", said)
	}
}

// The list of what is in the executables is what they say themselves.
func TestSBOM(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(file(t, current, ".spdx.json"))
	must.OK(t, err)
	var doc struct {
		Packages []struct{ Name, VersionInfo, LicenseConcluded, LicenseDeclared string }
	}
	must.OK(t, json.Unmarshal(text, &doc))
	listed := map[string]string{}
	for _, p := range doc.Packages {
		listed[p.Name] = p.VersionInfo
		if strings.Contains(p.LicenseConcluded+p.LicenseDeclared, "NOASSERTION") {
			t.Errorf("the licence of %s is not known", p.Name)
		}
	}
	top := unpack(t, t.TempDir())
	for _, name := range []string{"belay", "belayd"} {
		info, err := buildinfo.ReadFile(filepath.Join(top, "bin", name))
		must.OK(t, err)
		if len(info.Deps) == 0 {
			t.Errorf("%s names no modules", name)
		}
		for _, m := range info.Deps {
			if listed[m.Path] != m.Version {
				t.Errorf("%s %s is listed as %q", m.Path, m.Version, listed[m.Path])
			}
		}
	}
}

// Made again, a release is the same to the byte. BELAY_TEST_FULL has all of it compiled again too.
func TestReproducible(t *testing.T) {
	t.Parallel()
	first, again := made(t, current), t.TempDir()
	cmd := exec.Command("make", "dist", "DIST="+again, "PLATFORMS=linux/"+runtime.GOARCH)
	cmd.Dir, cmd.Env = "../../..", os.Environ()
	if os.Getenv("BELAY_TEST_FULL") != "" {
		cmd.Env = append(cmd.Env, "GOCACHE="+t.TempDir())
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("diff", "-r", first, again).CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

// chroot is a system with Debian's base files and a shell, and without Go: what an archive or a package has to do with.
func chroot(t *testing.T) string {
	t.Helper()
	need(t, true, "chroot", "dpkg-deb", "busybox")
	root := t.TempDir()
	for _, dir := range []string{"bin", "tmp", "proc", "dev", "root", "usr", "etc"} {
		must.OK(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	run(t, "cp", "/etc/debian_version", "/etc/passwd", "/etc/group", filepath.Join(root, "etc"))
	busybox, err := exec.LookPath("busybox")
	must.OK(t, err)
	run(t, "cp", busybox, filepath.Join(root, "bin/busybox"))
	run(t, "chroot", root, "/bin/busybox", "--install", "-s", "/bin")
	if out, err := exec.Command("chroot", root, "/bin/sh", "-c", "command -v go").CombinedOutput(); err == nil {
		t.Fatalf("the system has Go: %s", out)
	}
	return root
}

// inside runs a command in a chroot, in a mount namespace with its own /proc and /dev/null.
func inside(root string, args ...string) *exec.Cmd {
	script := `mount -t proc proc "$0/proc" && : > "$0/dev/null" && mount --bind /dev/null "$0/dev/null" && root=$0 && exec chroot "$root" /bin/env -i HOME=/root PATH=/usr/bin:/bin:/belay/bin "$@"`
	return exec.Command("unshare", append([]string{"--mount", "sh", "-c", script, root}, args...)...)
}

func TestArchive_WithoutGo(t *testing.T) {
	t.Parallel()
	root := chroot(t)
	must.OK(t, os.Rename(unpack(t, root), filepath.Join(root, "belay")))
	for _, args := range [][]string{{"belay", "run", "--", "true"}, {"belay", "stats"}, {"belay", "demo"}} {
		if out, err := inside(root, args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
