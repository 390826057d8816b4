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
	if err := os.Mkdir(filepath.Join(dir, "app"), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
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
