package checkdatabase

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

func TestDoctor_Database(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(state.DirVar, dir)
	if list := check(); len(list) != 1 || list[0].Status != doctor.Fine {
		t.Errorf("%+v", list)
	}
	must.OK(t, os.WriteFile(filepath.Join(dir, record.Name), []byte(strings.Repeat("x", 5000)), 0o600))
	list := check()
	if len(list) != 1 || list[0].Status != doctor.Wrong || !strings.Contains(list[0].Text, "is damaged") || list[0].Fix != "belay stats" {
		t.Errorf("%+v", list)
	}
}

// doctor names the database without linking it.
func TestDoctor_NameOfTheDatabase(t *testing.T) {
	if doctor.Database != record.Name {
		t.Errorf("%q, but the database is %q", doctor.Database, record.Name)
	}
}
