//go:build unix

package gate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/test/must"
)

// What is in the place of a state file and is none is set aside, said, and the gate is healthy.
func TestFiles_Damaged(t *testing.T) {
	good := `{"v":1,"key":"api","state":{"breaker":{"failures":1}}}` + "\n"
	for name, make := range map[string]func(t *testing.T, path string) error{
		"Empty":         write(""),
		"Truncated":     write(good[:30]),
		"Zeros":         write(strings.Repeat("\x00", 4096)),
		"Text":          write("hello\n"),
		"OtherVersion":  write(`{"v":2,"key":"api","state":{}}`),
		"OtherKey":      write(`{"v":1,"key":"apj","state":{}}`),
		"NoKey":         write(`{"v":1}`),
		"Twice":         write(good + good),
		"BadPhase":      write(`{"v":1,"key":"api","state":{"breaker":{"phase":"ajar"}}}`),
		"Huge":          write(good + strings.Repeat(" ", 2<<20)),
		"HugeObject":    write(`{"v":1,"key":"api","state":{"hold":{"reason":"` + strings.Repeat("x", 2<<20) + `"}}}`),
		"Directory":     func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) },
		"FullDirectory": func(_ *testing.T, path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
		"Pipe":          func(_ *testing.T, path string) error { return syscall.Mkfifo(path, 0o600) },
		"Device":        func(_ *testing.T, path string) error { return os.Symlink("/dev/zero", path) },
		"ForeignOwner": func(t *testing.T, path string) error {
			if os.Geteuid() != 0 {
				t.Skip("not root")
			}
			return errors.Join(os.WriteFile(path, []byte(good), 0o600), os.Chown(path, 12345, 12345))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := &gate.Files{Dir: dir}
			path := filepath.Join(dir, "api.json")
			must.OK(t, make(t, path))
			if list, err := files.List(); err != nil || name != "OtherKey" && name != "NoKey" && len(list) > 0 {
				t.Errorf("listed: %+v, %v", list, err)
			}
			var troubles []error
			g := &gate.Gate{Store: files, Key: "api", Trouble: func(err error) { troubles = append(troubles, err) }}
			pass, refusal := g.Enter("a")
			if refusal != nil {
				t.Fatalf("refused: %+v", refusal)
			}
			pass.Throttled(time.Hour, "rate_limit")
			if len(troubles) != 1 || !errors.Is(troubles[0], gate.ErrDamaged) || !strings.HasSuffix(troubles[0].Error(), "; it is now "+path+".damaged") {
				t.Fatalf("troubles: %v", troubles)
			}
			if _, refusal := g.Enter("b"); refusal == nil || len(troubles) > 1 {
				t.Errorf("the gate does not hold: %v", troubles)
			}
			if _, err := os.Lstat(path + ".damaged"); err != nil {
				t.Error(err)
			}
		})
	}
}

func write(text string) func(*testing.T, string) error {
	return func(_ *testing.T, path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

// An update that finds a damaged file says so, and has its effect.
func TestFiles_DamagedBeforeAnUpdate(t *testing.T) {
	files := &gate.Files{Dir: t.TempDir()}
	for i := range 3 { // what was set aside before is no obstacle
		must.OK(t, os.WriteFile(filepath.Join(files.Dir, "api.json"), []byte{byte(i)}, 0o600))
		err := files.Update("api", time.Now(), func(s gate.State) gate.State {
			equal(t, "state", show(s), "{}")
			s.Breaker.Failures = i + 1
			return s
		})
		if !errors.Is(err, gate.ErrDamaged) {
			t.Errorf("update: %v", err)
		}
		if s, err := files.Load("api"); err != nil || s.Breaker.Failures != i+1 {
			t.Errorf("%s, %v", show(s), err)
		}
	}
}

// Where it cannot be moved away either, it is replaced, and the message says what to do.
func TestFiles_DamagedAndCannotBeMoved(t *testing.T) {
	files := &gate.Files{Dir: t.TempDir()}
	path := filepath.Join(files.Dir, "api.json")
	must.OK(t, os.MkdirAll(path+".damaged/x", 0o700))
	must.OK(t, os.WriteFile(path, []byte("x"), 0o600))
	if _, err := files.Load("api"); !errors.Is(err, gate.ErrDamaged) || !strings.Contains(err.Error(), "; remove "+path) {
		t.Errorf("load: %v", err)
	}
	files.Update("api", time.Now(), func(s gate.State) gate.State { s.Breaker.Failures = 1; return s })
	if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 1 {
		t.Errorf("%s, %v", show(s), err)
	}
}

// A slow reader of a damaged file must not set aside the good one that has taken its place.
func TestFiles_SetAsideOnlyUnderTheLock(t *testing.T) {
	dir := t.TempDir()
	files := &gate.Files{Dir: dir}
	path := filepath.Join(dir, "api.json")
	must.OK(t, os.WriteFile(path, []byte("x"), 0o600))
	locked, loaded := make(chan struct{}), make(chan error, 1)
	go func() {
		<-locked
		_, err := files.Load("api") // reads the damaged file, and waits
		loaded <- err
	}()
	err := files.Update("other", time.Now(), func(s gate.State) gate.State { return s }) // makes the directory's files
	must.OK(t, err)
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	must.OK(t, err)
	must.OK(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	close(locked)
	time.Sleep(100 * time.Millisecond)
	must.OK(t, os.WriteFile(path+".new", []byte(`{"v":1,"key":"api","state":{"breaker":{"failures":4}}}`), 0o600))
	must.OK(t, os.Rename(path+".new", path))
	lock.Close()
	if err := <-loaded; err != nil {
		t.Errorf("load: %v", err)
	}
	if s, err := files.Load("api"); err != nil || s.Breaker.Failures != 4 {
		t.Errorf("%s, %v", show(s), err)
	}
}
