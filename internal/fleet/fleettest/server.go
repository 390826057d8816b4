//go:build unix

// Package fleettest starts a PostgreSQL for tests: a data directory, a socket and processes of its own, which end with the test process. It is
// shared by all tests of a package, and each test gets a database of its own.
package fleettest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

// Server is a PostgreSQL of the tests.
type Server struct {
	Dir    string // has the data and the socket
	bin    string
	as     *syscall.Credential // nil for ourselves
	extra  []string            // further settings
	mu     sync.Mutex
	daemon *exec.Cmd
	done   chan struct{}
}

// template is the database that others are copies of.
const template = "belay_template"

var (
	shared    *Server
	sharedErr error
	once      sync.Once
	databases atomic.Int64
)

// Main runs the tests of a package and ends the server that they have used, if any: func TestMain(m *testing.M) { fleettest.Main(m) }.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run does the same for a TestMain that has more to do, and returns the exit code.
func Run(m *testing.M) int {
	code := m.Run()
	if shared != nil {
		shared.Close()
	}
	for _, f := range later {
		f()
	}
	return code
}

// later is what is done when all tests have run.
var later []func()

// Later has something done when all tests of a package have run.
func Later(f func()) { later = append(later, f) }

// Shared is the server that all tests of the package share. A machine without PostgreSQL skips the test, unless CI is set, and so does -short.
func Shared(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("PostgreSQL is not for -short")
	}
	if _, err := binaries(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	once.Do(func() {
		if shared, sharedErr = Start(); sharedErr == nil {
			sharedErr = shared.prepare()
		}
	})
	if sharedErr != nil {
		t.Fatal(sharedErr)
	}
	return shared
}

// Database makes a database with the tables of a fleet for one test, and returns its DSN.
func Database(t testing.TB) string {
	t.Helper()
	return Shared(t).Database(t)
}

// Empty makes a database without tables for one test, and returns its DSN.
func Empty(t testing.TB) string {
	t.Helper()
	s := Shared(t)
	return s.DSN(s.create(t, "template1"))
}

// Database makes a database with the tables of a fleet.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	return s.DSN(s.create(t, template))
}

// DSN names a database of the server.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("host=%s user=belay dbname=%s", s.Dir, database)
}

func (s *Server) create(t testing.TB, from string) string {
	t.Helper()
	name := fmt.Sprintf("test%d", databases.Add(1))
	s.Exec(t, "postgres", fmt.Sprintf("create database %s template %s", name, from))
	t.Cleanup(func() {
		s.exec("postgres", fmt.Sprintf("drop database if exists %s with (force)", name)) // it may have been stopped
	})
	return name
}

// Exec runs statements in a database of the server.
func (s *Server) Exec(t testing.TB, database, sql string) {
	t.Helper()
	must.OK(t, s.exec(database, sql))
}

// Count is the number that a statement returns.
func (s *Server) Count(t testing.TB, database, sql string) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN(database))
	must.OK(t, err)
	defer conn.Close(ctx)
	must.OK(t, conn.QueryRow(ctx, sql).Scan(&n))
	return n
}

func (s *Server) exec(database, sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN(database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// prepare makes the database that others are copied from.
func (s *Server) prepare() error {
	if err := s.exec("postgres", "create database "+template); err != nil {
		return err
	}
	address, err := store.ParseAddress(s.DSN(template), os.Getenv)
	if err != nil {
		return err
	}
	db, err := store.Connect(context.Background(), address)
	if err != nil {
		return err
	}
	defer db.Close()
	_, _, err = db.Migrate(context.Background())
	return err
}

// binaries finds where Debian, or scripts/setup-postgres, has put PostgreSQL.
func binaries() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	places := []string{filepath.Join(filepath.Dir(file), "../../../.tools/postgresql/bin"), ".tools/postgresql/bin"}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	for i := len(found) - 1; i >= 0; i-- {
		places = append(places, found[i])
	}
	for _, dir := range places {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("there is no PostgreSQL: run scripts/setup-tests")
}

// Start makes a data directory and starts a server on it. Settings ("fsync=on") come before those that make tests fast.
func Start(settings ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin}
	for _, setting := range settings {
		s.extra = append(s.extra, "-c", setting)
	}
	place := "/tmp" // a socket's path must be short, and others may have to reach it
	if len(settings) == 0 && roomInMemory() {
		place = "/dev/shm"
	}
	if s.Dir, err = os.MkdirTemp(place, "belay-pg"); err != nil {
		return nil, err
	}
	if os.Getuid() == 0 {
		if err := s.drop(); err != nil {
			return nil, err
		}
	}
	if out, err := s.command("initdb", "-D", s.data(), "-U", "belay", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, s.Resume()
}

// roomInMemory reports whether there is a file system in memory that is large enough, where to make a database and to remove it takes a tenth of the CPU: it is
// three hundred files.
func roomInMemory() bool {
	var memory unix.Statfs_t
	return unix.Statfs("/dev/shm", &memory) == nil && memory.Bavail*uint64(memory.Bsize) >= 4<<30
}

// drop has the server run as a user without rights: PostgreSQL refuses to run as root.
func (s *Server) drop() error {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.Dir, uid, gid)
	}
	return fmt.Errorf("there is no user that PostgreSQL could run as")
}

func (s *Server) data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.Dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.as}
	return cmd
}

// Resume starts the server, if it is not running, and waits until it answers.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		// Processes of a server that was killed end only when they notice.
		if err := s.start(); err == nil || time.Now().After(deadline) || !strings.Contains(err.Error(), "is still in use") {
			return err
		}
	}
}

func (s *Server) start() error {
	os.Truncate(filepath.Join(s.Dir, "log"), 0)
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	args := []string{"-D", s.data(), "-k", s.Dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "autovacuum_naptime=60s", "-c", "log_min_messages=warning"}
	cmd := s.command("postgres", append(args, s.extra...)...)
	cmd.Stdout, cmd.Stderr = log, log
	endsWithUs(cmd)
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // the server ends with the thread that has started it, which therefore stays
		defer close(done)
		defer log.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.daemon, s.done = cmd, done
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := s.exec("postgres", "select 1")
		if err == nil {
			return nil
		}
		select {
		case <-done:
			text, _ := os.ReadFile(log.Name())
			return fmt.Errorf("PostgreSQL has ended: %s", strings.TrimSpace(string(text)))
		default:
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// Stop ends the server by a signal: SIGINT ends the sessions of its clients and shuts down, SIGKILL and SIGQUIT leave recovery to the next start.
func (s *Server) Stop(with syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.daemon == nil {
		return
	}
	if with == syscall.SIGKILL { // its other processes notice, but later
		syscall.Kill(-s.daemon.Process.Pid, with)
	}
	s.daemon.Process.Signal(with)
	<-s.done
	s.daemon = nil
}

// Close ends the server and removes its data.
func (s *Server) Close() {
	s.Stop(syscall.SIGQUIT)
	os.RemoveAll(s.Dir)
}
