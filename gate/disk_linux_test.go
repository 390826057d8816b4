package gate_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// Runs as a user other than root, because permissions do not bind root.
func TestFiles_PermissionDenied(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root: cannot become another user")
	}
	const unprivileged = 65534
	for name, tt := range map[string]struct {
		prepare func(dir string) error
		want    string // what is said of it
	}{
		"UnreadableFile": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "api.json"), []byte("{}"), 0)
		}, `held: true, slot: true, troubles: ["damaged gate file: open DIR/api.json: permission denied; it is now DIR/api.json.damaged"]`},
		"ReadOnlyDirectory": {func(dir string) error { return os.Chmod(dir, 0o500) },
			`held: false, slot: false, troubles: ["open DIR/api.json.lock: permission denied"]`},
		"ForbiddenDirectory": {func(dir string) error { return os.Chmod(dir, 0) },
			`held: false, slot: false, troubles: ["open DIR/api.json: permission denied" "open DIR/api.json: permission denied" "open DIR/api.json: permission denied"]`},
		"UnreadableLock": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "api.json.lock"), nil, 0) },
			`held: false, slot: true, troubles: ["open DIR/api.json.lock: permission denied"]`},
		"UnreadableSlot": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "api.0.slot"), nil, 0) },
			`held: true, slot: false, troubles: []`},
		"ForeignFile": {func(dir string) error {
			path := filepath.Join(dir, "api.json")
			if err := os.WriteFile(path, []byte(`{"v":1,"key":"api","state":{}}`), 0o644); err != nil {
				return err
			}
			return os.Chown(path, 1, 1)
		}, `held: true, slot: true, troubles: ["damaged gate file: it belongs to another user (uid 1); it is now DIR/api.json.damaged"]`},
		"NoDirectory": {func(dir string) error { return os.Remove(dir) },
			`held: false, slot: false, troubles: ["mkdir DIR: permission denied"]`},
	} {
		t.Run(name, func(t *testing.T) {
			parent, err := os.MkdirTemp("", "gate-test-")
			must.OK(t, err)
			t.Cleanup(func() { os.RemoveAll(parent) })
			dir := filepath.Join(parent, "gates")
			must.OK(t, os.Mkdir(dir, 0o700))
			must.OK(t, tt.prepare(dir))
			os.Chmod(parent, 0o755)
			filepath.Walk(parent, func(path string, info os.FileInfo, err error) error {
				if err == nil && path != parent && info.Sys().(*syscall.Stat_t).Uid == 0 {
					os.Chown(path, unprivileged, unprivileged)
				}
				return nil
			})
			p := beginAs(t, &syscall.Credential{Uid: unprivileged, Gid: unprivileged}, dir, "try")
			if got := strings.ReplaceAll(p.says(), dir, "DIR"); got != tt.want {
				t.Errorf("\ngot  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// mounted returns a file system of its own.
func mounted(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("gate-test", dir, "tmpfs", 0, options); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("cannot mount a file system here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A full disk keeps the states as they are and stops no call; when there is room again, the gate works again.
func TestFiles_FullDisk(t *testing.T) {
	dir := mounted(t, "size=32k,nr_inodes=100")
	files := &gate.Files{Dir: dir}
	put(t, files, "api")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 64<<10), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	var troubles []error
	g := &gate.Gate{Store: files, Key: "api", Trouble: func(err error) { troubles = append(troubles, err) }}
	pass, refusal := g.Enter("a")
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	pass.Throttled(time.Hour, "rate_limit of curl")
	if len(troubles) != 1 || !strings.Contains(troubles[0].Error(), "no space left on device") {
		t.Errorf("troubles: %v", troubles)
	}
	if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 1 || s.Hold.Live(time.Now()) {
		t.Errorf("%s, %v", show(s), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "api.json.new")); err == nil {
		t.Error("half a file is left")
	}
	// To make a gate healthy needs no room.
	now := time.Now()
	if err := files.Update("api", now, func(s gate.State) gate.State { return s.Reset(now) }); err != nil {
		t.Error(err)
	}
	os.Remove(ballast)
	pass, _ = g.Enter("b")
	pass.Throttled(time.Hour, "rate_limit of curl")
	if _, refusal := g.Enter("c"); refusal == nil || len(troubles) > 1 {
		t.Errorf("it does not hold: %v", troubles)
	}
}

func TestFiles_ReadOnlyDisk(t *testing.T) {
	dir := mounted(t, "size=64k")
	files := &gate.Files{Dir: dir}
	put(t, files, "api")
	must.OK(t, syscall.Mount("gate-test", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=64k"))
	if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 1 {
		t.Errorf("%s, %v", show(s), err)
	}
	var troubles []error
	g := &gate.Gate{Store: files, Key: "api", Trouble: func(err error) { troubles = append(troubles, err) }}
	pass, refusal := g.Enter("a")
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	pass.Failed("network")
	if ok, _ := g.Spend(); !ok {
		t.Error("no retry without a budget to count in")
	}
	if len(troubles) != 2 || !strings.Contains(troubles[0].Error(), "read-only file system") {
		t.Errorf("troubles: %v", troubles)
	}
}
