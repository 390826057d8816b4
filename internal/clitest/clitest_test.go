package clitest_test

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/profile"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// Loopback works, nothing else does, and nothing of the set-up is left in what the tests start.
func TestOffline(t *testing.T) {
	if !clitest.IsOffline() {
		t.Skip("SKIPPED: the system allows no network namespace")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	var scripts string
	for _, name := range []string{"../../scripts/setup-clis", "../../tools/gh/go.mod"} { // the latter is setup-gh's
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
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
		if err := os.MkdirAll(filepath.Join(dir, "claude-"+version), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "claude-"+version, "claude"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
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
