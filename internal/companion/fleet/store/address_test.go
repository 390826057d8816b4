package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/companion/fleet/store"
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
