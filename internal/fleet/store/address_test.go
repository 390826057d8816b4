package store_test

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/test/must"
)

func TestParseAddress(t *testing.T) {
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	if _, err := store.ParseAddress("", getenv); !errors.Is(err, store.ErrNoAddress) {
		t.Errorf("without an address: %v", err)
	}
	for _, dsn := range []string{"postgres://belay:plum@db/belay", "postgresql://db/belay?password=plum", "host=db password=plum", "host=db password = plum", "password='plum' host=db",
		"host=db sslpassword=plum", "postgres://belay:pl%zzum@db/belay"} {
		if _, err := store.ParseAddress(dsn, getenv); err == nil || !strings.Contains(err.Error(), "PGPASSFILE") || strings.Contains(err.Error(), "plum") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	for dsn, want := range map[string]string{
		"postgres://belay@db.example.com/work":         "db.example.com:5432/work",
		"host=/run/postgresql dbname=work":             "/run/postgresql/work",
		"host=db port=5433 dbname=passwords user=plum": "db:5433/passwords",
	} {
		env[store.Variable] = dsn
		a, err := store.ParseAddress("", getenv)
		if err != nil || a.Text != want {
			t.Errorf("%s: %v, %v", dsn, a, err)
		}
	}
	for _, dsn := range []string{"host=db port=many", "nonsense", "postgres://db:port/x"} {
		if _, err := store.ParseAddress(dsn, getenv); err == nil || !strings.Contains(err.Error(), "cannot read the DSN: ") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// A file of passwords that others can read is ignored, as psql ignores it, and a sentence says so. What does not come from it is used.
func TestParseAddress_PassFile(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	home := os.Getenv("HOME")
	for _, name := range []string{"PGPASSWORD", "PGPASSFILE", "PGHOST", "PGSERVICE"} {
		t.Setenv(name, "")
	}
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(home, name)
		must.OK(t, os.WriteFile(path, []byte("db:5432:belay:belay:plum\n"), mode))
		must.OK(t, os.Chmod(path, mode))
		return path
	}
	own, other := write(".pgpass", 0o600), write("other +pass", 0o644)
	for _, c := range []struct {
		name, dsn  string
		mode       os.FileMode // of ~/.pgpass
		env, value string
		password   string
		ignored    string // the file
	}{
		{name: "Own", dsn: "host=db user=belay dbname=belay", mode: 0o600, password: "plum"},
		{name: "AllRead", dsn: "host=db user=belay dbname=belay", mode: 0o644, ignored: own},
		{name: "GroupReads", dsn: "postgres://belay@db/belay", mode: 0o640, ignored: own},
		{name: "ByVariable", dsn: "postgres://belay@db/belay", mode: 0o600, env: "PGPASSFILE", value: other, ignored: other},
		{name: "ByPair", dsn: "host=db user=belay dbname=belay passfile='" + other + "'", mode: 0o600, ignored: other},
		{name: "ByURL", dsn: "postgres://belay@db/belay?passfile=" + url.PathEscape(other), mode: 0o600, ignored: other},
		{name: "OfAnotherHost", dsn: "host=elsewhere user=belay dbname=belay", mode: 0o644},
		{name: "NotFromIt", dsn: "host=db user=belay dbname=belay", mode: 0o644, env: "PGPASSWORD", value: "pear", password: "pear"},
		{name: "NotThere", dsn: "host=db user=belay dbname=belay", env: "PGPASSFILE", value: filepath.Join(home, "none")},
	} {
		t.Run(c.name, func(t *testing.T) {
			must.OK(t, os.Chmod(own, c.mode))
			if c.env != "" {
				t.Setenv(c.env, c.value)
			}
			a, err := store.ParseAddress(c.dsn, os.Getenv)
			must.OK(t, err)
			if a.Password() != c.password {
				t.Errorf("password %q", a.Password())
			}
			if (c.ignored == "") != (a.Ignored == "") || !strings.Contains(a.Ignored, c.ignored) || strings.Contains(a.Ignored, "plum") {
				t.Errorf("%q", a.Ignored)
			}
		})
	}
}
