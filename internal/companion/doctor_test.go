package companion

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), mode))
}

func TestDoctor_Database(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(state.DirVar, dir)
	if list := checkDatabase(); len(list) != 1 || list[0].Status != doctor.Fine {
		t.Errorf("%+v", list)
	}
	write(t, filepath.Join(dir, record.Name), strings.Repeat("x", 5000), 0o600)
	list := checkDatabase()
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

// Each CLI that can be rehearsed has a stand-in for its service.
func TestRehearsal_EveryCLIHasAStandIn(t *testing.T) {
	for _, d := range profile.All() {
		if !slices.Contains(rehearse.Vendors(), d.Rehearsal.Vendor) {
			t.Errorf("%s: there is no stand-in %q", d.Name, d.Rehearsal.Vendor)
		}
	}
}
