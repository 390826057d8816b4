//go:build linux

package release

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// installScript runs the script that installs, with what it downloads from a server of the test's.
func installScript(t *testing.T, home, from string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{filepath.Join(made(t, current), "install.sh"), "--from", from}, args...)...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestInstallScript(t *testing.T) {
	t.Parallel()
	need(t, false, "curl", "sha256sum", "tar")
	server := httptest.NewServer(http.FileServer(http.Dir(made(t, current))))
	defer server.Close()
	home := t.TempDir()
	out, err := installScript(t, home, server.URL)
	if err != nil || !strings.Contains(out, "installed belay "+current) || !strings.Contains(out, "add it to your PATH") {
		t.Fatalf("%v\n%s", err, out)
	}
	run(t, filepath.Join(home, ".local/bin/belay"), "run", "--", "true")
	if out, err = installScript(t, home, server.URL); err != nil { // over the one that is there
		t.Errorf("%v\n%s", err, out)
	}
	if out, err = installScript(t, home, server.URL, "--uninstall"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	var left []string
	filepath.WalkDir(filepath.Join(home, ".local"), func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() && !strings.Contains(path, "/state/") {
			left = append(left, path)
		}
		return err
	})
	if left != nil {
		t.Errorf("left: %v", left)
	}
}

// What is not the archive of the release is not installed.
func TestInstallScript_Tampered(t *testing.T) {
	t.Parallel()
	need(t, false, "curl", "sha256sum", "tar")
	for _, name := range []string{"Archive", "NoSums", "NoneListed", "NotThere", "HalfArchive"} {
		t.Run(name, func(t *testing.T) {
			dir := made(t, current) // here, since only the goroutine of a test can skip it
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path := filepath.Join(dir, filepath.Base(r.URL.Path))
				data, _ := os.ReadFile(path)
				sums := strings.HasSuffix(path, "checksums.txt")
				switch {
				case name == "Archive" && !sums:
					data = []byte("evil")
				case name == "NoSums" && sums, name == "NotThere" && !sums:
					http.NotFound(w, r)
					return
				case name == "NoneListed" && sums:
					data = []byte("0000  other.tar.gz\n")
				case name == "HalfArchive" && !sums:
					data = data[:len(data)/2]
				}
				w.Write(data)
			}))
			defer server.Close()
			home := t.TempDir()
			if out, err := installScript(t, home, server.URL); err == nil || !strings.HasPrefix(out[strings.Index(out, "install.sh"):], "install.sh: ") {
				t.Errorf("%v\n%s", err, out)
			}
			if entries, _ := os.ReadDir(home); len(entries) > 0 {
				t.Errorf("left: %v", entries)
			}
		})
	}
}

// smallInstall runs the script as the action does.
func smallInstall(t *testing.T, script string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{script}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Cut off anywhere, as a download that ends early, the script fails and has done nothing: not even the half of its last line runs.
func TestInstallScript_Cut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(script)
	must.OK(t, err)
	text = []byte(strings.Replace(strings.TrimSpace(string(text)), "version=''", "version='0.3.0'", 1))
	cuts := []int{16, 200, len(text) - 1, len(text) - 2, len(text) - 3, len(text) - 7}
	for at := 300; at < len(text); at += 300 {
		cuts = append(cuts, at)
	}
	dir := t.TempDir()
	for _, name := range []string{"curl", "wget", "mkdir", "mktemp"} {
		program(t, filepath.Join(dir, "tools", name), "touch "+filepath.Join(dir, "called"))
	}
	for _, at := range cuts {
		cut := filepath.Join(dir, "cut.sh")
		must.OK(t, os.WriteFile(cut, text[:at], 0o644))
		if out, err := smallInstall(t, cut, []string{"HOME=" + dir, "PATH=" + filepath.Join(dir, "tools") + ":" + os.Getenv("PATH")}); err == nil {
			t.Errorf("cut at byte %d it succeeds: %s", at, out)
		}
		if _, err := os.Stat(filepath.Join(dir, "called")); err == nil {
			t.Fatalf("cut at byte %d it does something", at)
		}
	}
}

// The script needs no network where the files of a release are in a directory, or where it lies in an unpacked archive, and knows the version by itself.
func TestInstallScript_Directory(t *testing.T) {
	t.Parallel()
	release := newSmall(t, "0.3.0")
	here := t.TempDir()
	program(t, filepath.Join(here, "tools/curl"), "echo FETCHED; exit 22")
	run(t, "tar", "-xzf", filepath.Join(release.dir, release.archive), "-C", here)
	own, err := filepath.Abs(script)
	must.OK(t, err)
	unpacked := filepath.Join(here, strings.TrimSuffix(release.archive, ".tar.gz"))
	run(t, "cp", script, unpacked)
	for name, c := range map[string]struct {
		script string
		args   []string
	}{
		"Directory": {own, []string{"--from", release.dir}},
		"Relative":  {own, []string{"--from", "."}},
		"Unpacked":  {filepath.Join(unpacked, "install.sh"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			cmd := exec.Command("sh", append([]string{c.script, "--prefix", filepath.Join(home, "own place")}, c.args...)...)
			cmd.Dir, cmd.Env = release.dir, []string{"PATH=" + filepath.Join(here, "tools") + ":" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "installed belay 0.3.0") || strings.Contains(string(out), "FETCHED") {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, file := range []string{"bin/belayd", "share/man/man1/belay.1", "share/fish/vendor_completions.d/belay.fish", "share/doc/belay/README.md", "share/doc/belay/docs/run.md"} {
				if _, err := os.Stat(filepath.Join(home, "own place", file)); err != nil {
					t.Error(err)
				}
			}
			run(t, "sh", own, "--uninstall", "--prefix", filepath.Join(home, "own place"))
			if left := files(t, home); left != nil {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// In a directory that everyone may write to, such as /tmp, what lies beside the script is not taken for the archive.
func TestInstallScript_Shared(t *testing.T) {
	t.Parallel()
	shared := t.TempDir()
	program(t, filepath.Join(shared, "bin/belay"), "echo of a stranger")
	program(t, filepath.Join(shared, "tools/curl"), "echo FETCHED; exit 22")
	run(t, "cp", script, shared)
	must.OK(t, os.Chmod(shared, 0o777))
	out, err := smallInstall(t, filepath.Join(shared, "install.sh"), []string{"PATH=" + filepath.Join(shared, "tools") + ":" + os.Getenv("PATH")}, "--prefix", filepath.Join(shared, "own"))
	if _, missing := os.Stat(filepath.Join(shared, "own")); err == nil || missing == nil || !strings.Contains(out, "FETCHED") {
		t.Errorf("%v\n%s", err, out)
	}
}

// Through a pipe, as in the README, it installs the latest release; without Go a clone is not built.
func TestInstallScript_Latest(t *testing.T) {
	t.Parallel()
	need(t, false, "bash")
	release, home := newSmall(t, "0.3.0"), t.TempDir()
	program(t, filepath.Join(home, "tools/curl"), `for last; do :; done; case $last in *releases/latest/download/*) exec cp "`+release.dir+`/${last##*/}" "$5" ;; *) exit 22 ;; esac`)
	cmd := exec.Command("sh")
	cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "tools") + ":/usr/bin:/bin"}
	text, err := os.Open(script)
	must.OK(t, err)
	defer text.Close()
	cmd.Stdin = text
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "installed belay 0.3.0") {
		t.Fatalf("%v\n%s", err, out)
	}
	few := t.TempDir()
	for _, name := range []string{"sh", "dirname", "find", "mktemp", "rm"} {
		path, err := exec.LookPath(name)
		must.OK(t, err)
		must.OK(t, os.Symlink(path, filepath.Join(few, name)))
	}
	if out, err := smallInstall(t, script, []string{"HOME=" + home, "PATH=" + few}); err == nil || !strings.Contains(out, "to build this clone takes Go and make. To install the latest release: curl -fsSL https://") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What cannot be meant is refused before anything is fetched.
func TestInstallScript_Refused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := "HOME=" + dir
	program(t, filepath.Join(dir, "curl"), "echo FETCHED; exit 22") // so that nothing is installed if it is not refused
	for _, c := range []struct {
		name, env, want string
		args            []string
	}{
		{"NoHome", "HOME=", "HOME is not set; say where", []string{"--version", "0.3.0"}},
		{"RelativeHome", "HOME=here", "not an absolute path", []string{"--version", "0.3.0"}},
		{"VersionOfAnother", home, "--version and --commit have only", []string{"--version", "0.3.0/../../../other/v0.3.0"}},
		{"VersionWithLineEnd", home, "--version and --commit have only", []string{"--version", "0.3.0\n::error::x"}},
		{"FromWithLineEnd", home, "--from is neither a URL nor a directory", []string{"--version", "0.3.0", "--from", "http://x/\n::error::x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := smallInstall(t, script, []string{c.env, "PATH=" + dir + ":" + os.Getenv("PATH")}, c.args...)
			if err == nil || !strings.HasPrefix(out, "install.sh: ") || !strings.Contains(out, c.want) || strings.Count(out, "\n") != 1 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Where gh can tell, an archive of another origin is not installed although its checksum is right; where it cannot, the script says so.
func TestInstallScript_Origin(t *testing.T) {
	t.Parallel()
	release := newSmall(t, "0.3.0")
	for _, c := range []struct{ name, gh, want string }{
		{"Verified", verifies, "installed belay 0.3.0"},
		{"Another", verifies + "case $* in *--bundle*) echo ✗ >&2; exit 1 ;; esac\n", "nothing was installed. To leave this out: --no-verify"},
		{"CannotTell", "exit 1\n", "only that it is what checksums.txt says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			program(t, filepath.Join(home, "tools/gh"), c.gh)
			out, err := smallInstall(t, script, []string{"PATH=" + filepath.Join(home, "tools") + ":" + os.Getenv("PATH")}, "--from", release.url, "--version", "0.3.0", "--prefix", filepath.Join(home, ".local"), "--trusted-root", "a root") // which needs no HOME
			if asked, _ := os.ReadFile(filepath.Join(home, "gh")); c.name == "Verified" && !strings.Contains(string(asked), "--custom-trusted-root a root --deny-self-hosted-runners") {
				t.Errorf("gh was asked: %s", asked)
			}
			if refused := c.name == "Another"; refused != (err != nil) || !strings.Contains(out, c.want) {
				t.Errorf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(home, ".local/bin/belay")); (err == nil) != (c.name != "Another") {
				t.Errorf("installed: %v", err)
			}
		})
	}
}

// npm installs the package of this platform with the one that starts it, and codes and signals pass through that.
func TestNPM(t *testing.T) {
	t.Parallel()
	need(t, false, "npm", "node")
	dir := t.TempDir()
	var tars []string
	for _, p := range []string{"belay", map[string]string{"amd64": "linux-x64", "arm64": "linux-arm64"}[runtime.GOARCH]} {
		out := run(t, "npm", "pack", "--silent", "--pack-destination", dir, filepath.Join(made(t, current), "npm", p))
		tars = append(tars, filepath.Join(dir, strings.TrimSpace(out)))
	}
	cmd := exec.Command("npm", append([]string{"install", "--silent", "--offline", "--no-audit", "--no-fund", "--prefix", filepath.Join(dir, "app")}, tars...)...)
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(dir, "cache"))
	must.OK(t, os.Mkdir(filepath.Join(dir, "app"), 0o755))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, pattern := range []string{"belay/LICENSE", "linux-*/LICENSE", "linux-*/THIRD-PARTY-NOTICES.txt", "belay/README.md", "belay/docs/recipes.md"} {
		if found, _ := filepath.Glob(filepath.Join(dir, "app/node_modules/@belay-run", pattern)); len(found) != 1 {
			t.Errorf("%s: %v", pattern, found)
		}
	}
	belay := filepath.Join(dir, "app/node_modules/.bin/belay")
	if out := run(t, belay, "run", "--", "echo", "hello"); out != "hello\n" {
		t.Errorf("%q", out)
	}
	err := exec.Command(belay, "run", "--", "sh", "-c", "exit 7").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 7 {
		t.Errorf("%v", err)
	}
}
