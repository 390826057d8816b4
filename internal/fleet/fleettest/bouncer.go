//go:build unix

package fleettest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// Bouncer starts a PgBouncer before the database of a DSN that [Database] has made, with a pool_mode, and returns the DSN to reach it by. A machine without one skips the test, unless
// CI is set.
func Bouncer(t testing.TB, dsn, mode string) string {
	t.Helper()
	s := Shared(t)
	_, file, _, _ := runtime.Caller(0)
	place := filepath.Join(filepath.Dir(file), "../../../.tools/pgbouncer")
	path := filepath.Join(place, "usr/sbin/pgbouncer")
	if _, err := os.Stat(path); err != nil {
		path = "/usr/sbin/pgbouncer"
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no PgBouncer: run scripts/setup-tests")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	database := dsn[strings.LastIndex(dsn, "=")+1:]
	base := filepath.Join(s.Dir, "bouncer-"+database+"-"+mode)
	config := fmt.Sprintf("[databases]\n* = host=%s user=belay\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\nauth_type = any\npool_mode = %s\ndefault_pool_size = 20\n", s.Dir, port, mode)
	must.OK(t, os.WriteFile(base+".ini", []byte(config), 0o644))
	libraries, _ := filepath.Glob(filepath.Join(place, "usr/lib/*-linux-gnu"))
	cmd := exec.Command(path, base+".ini")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LD_LIBRARY_PATH=" + strings.Join(libraries, ":")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as}
	endsWithUs(cmd)
	log, err := os.Create(base + ".log")
	must.OK(t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // it ends with the thread that has started it, which therefore stays
		defer close(done)
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	must.OK(t, <-started)
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return fmt.Sprintf("host=127.0.0.1 port=%d user=belay dbname=%s sslmode=disable", port, database)
		}
		select {
		case <-done:
			text, _ := os.ReadFile(base + ".log")
			t.Fatalf("PgBouncer has ended: %s", text)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("PgBouncer does not answer")
		}
	}
}
