package clitest_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/test/must"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// Loopback works, nothing else does, and nothing of the set-up is left in what the tests start.
func TestOffline(t *testing.T) {
	if !clitest.IsOffline() {
		t.Skip("SKIPPED: the system allows no network namespace")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("loopback does not work: %v", err)
	}
	near.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	far := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), 80) // TEST-NET-1, which no host has
	if c, err := new(net.Dialer).DialContext(ctx, "tcp", far.String()); err == nil {
		c.Close()
		t.Error("the network can be reached")
	} else if !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("%v", err)
	}
	if os.Getuid() != 0 {
		out, err := exec.Command("grep", "-E", "Cap(Amb|Eff)", "/proc/self/status").Output()
		if err != nil || strings.ContainsAny(strings.NewReplacer("CapAmb", "", "CapEff", "").Replace(string(out)), "123456789abcdef") {
			t.Errorf("capabilities are left: %v\n%s", err, out)
		}
	}
}

func TestFind(t *testing.T) {
	for _, cli := range profile.All() {
		if _, err := os.Stat(clitest.Find(t, cli, "")); err != nil {
			t.Error(err)
		}
	}
}

// The versions that a descriptor calls tested are those that the scripts install.
func TestTested_IsInstalled(t *testing.T) {
	if testing.Short() {
		t.Skip("short tests need no CLI")
	}
	var scripts string
	for _, name := range []string{"../../scripts/setup-clis", "../../tools/gh/go.mod"} { // the latter is setup-gh's
		data, err := os.ReadFile(name)
		must.OK(t, err)
		scripts += strings.ReplaceAll(string(data), "github.com/cli/cli/v2 v", "gh-")
	}
	for _, cli := range profile.All() {
		for _, version := range cli.Tested {
			if !strings.Contains(scripts, cli.Name+"-"+version) {
				t.Errorf("no script installs %s %s", cli.Name, version)
			}
		}
	}
}

// A directory of other versions takes the place of ours.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"2.1.90", "2.1.260", "1.0.128"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, "claude-"+version), 0o700))
		must.OK(t, os.WriteFile(filepath.Join(dir, "claude-"+version, "claude"), nil, 0o700))
	}
	t.Setenv("BELAY_TEST_CLIS", dir)
	if got := clitest.Versions(profile.Find("claude")); !slices.Equal(got, []string{"2.1.260", "2.1.90", "1.0.128"}) {
		t.Errorf("%q", got)
	}
	if got := clitest.Claude(t, "2.1.90"); got != filepath.Join(dir, "claude-2.1.90", "claude") {
		t.Error(got)
	}
	if got := clitest.Versions(profile.Find("codex")); got[0] != profile.Find("codex").Tested[0] {
		t.Errorf("%q", got)
	}
}

// Without the gh that is built, the one on the PATH is found, and what needs the former is skipped.
func TestGH(t *testing.T) {
	if testing.Short() {
		t.Skip("every CLI is skipped with -short")
	}
	pinned := profile.Find("gh").Tested[0]
	empty, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"go.mod", filepath.Join("bin", "gh")} {
		must.OK(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(empty, name)), 0o700), os.WriteFile(filepath.Join(empty, name), nil, 0o700)))
	}
	built := filepath.Join(dir, "gh-"+pinned, "gh")
	must.OK(t, errors.Join(os.Mkdir(filepath.Dir(built), 0o700), os.WriteFile(built, nil, 0o700)))
	t.Chdir(empty)
	for _, tt := range []struct {
		name, path, clis, ci, full string
		gh, pinned                 string // where it is, "skips" or "fails"
	}{
		{"BothThere", filepath.Join(empty, "bin"), dir, "", "", built, built},
		{"OnThePath", filepath.Join(empty, "bin"), empty, "1", "", filepath.Join(empty, "bin", "gh"), "skips"},
		{"InFull", filepath.Join(empty, "bin"), empty, "", "1", filepath.Join(empty, "bin", "gh"), "skips"},
		{"InFullAndCI", filepath.Join(empty, "bin"), empty, "1", "1", filepath.Join(empty, "bin", "gh"), "fails"},
		{"Nowhere", dir, empty, "", "", "skips", "skips"},
		{"NowhereInCI", dir, empty, "1", "", "fails", "skips"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range map[string]string{"PATH": tt.path, "BELAY_TEST_CLIS": tt.clis, "CI": tt.ci, "BELAY_TEST_FULL": tt.full} {
				t.Setenv(name, value)
			}
			if got := ending(clitest.GH); got != tt.gh {
				t.Errorf("GH: %s, want %s", got, tt.gh)
			}
			if got := ending(clitest.PinnedGH); got != tt.pinned {
				t.Errorf("PinnedGH: %s, want %s", got, tt.pinned)
			}
		})
	}
}

// ending is what f returns in a test of its own, or how it ends that test.
func ending(f func(testing.TB) string) string {
	result := make(chan string)
	go func() {
		t := &asked{}
		defer func() { result <- cmp.Or(t.ended, t.returned) }()
		t.returned = f(t)
	}()
	return <-result
}

// asked is a test that only notes how it is ended.
type asked struct {
	testing.TB
	ended, returned string
}

func (*asked) Helper() {}
func (t *asked) Fatalf(string, ...any) {
	t.ended = "fails"
	runtime.Goexit()
}
func (t *asked) Skipf(string, ...any) {
	t.ended = "skips"
	runtime.Goexit()
}
