//go:build unix

package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/test/must"
)

// doctor works without belayd, and says that it is missing.
func TestDoctor_WithoutBelayd(t *testing.T) {
	commandtest.Place(t)
	t.Setenv("PATH", t.TempDir())
	commandtest.Belay(t, "doctor").Ends(1).Says().Prints(
		"WRONG  belayd     not found next to belay or on the PATH; log, stats, sessions, top, rehearse and demo need it\n", "→ https://github.com/belay-run/belay/blob/main/docs/install.md\n",
		"ok     settings   no settings file; using the defaults\n", "note   record     the database was not checked because belayd is missing\n",
		"ok     gates ", "ok     clock ", "note   claude     not found on the PATH\n", "\n1 problem found\n")
	commandtest.Belay(t, "doctor", "--json").Ends(1).Says().Prints(`{"check":"belayd","status":"wrong","text":"not found`, `"fix":"https://github.com/belay-run/belay/blob/main/docs/install.md"}`)
}

// What belayd finds in its database stands among the other findings.
func TestDoctor_AsksBelayd(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "belayd", `[ "$1 $2 $3 $5" = "--for 0.1.0-dev/1 --belay check-database" ] || exit 99
echo '{"check":"record","status":"wrong","text":"the database is not sound","fix":"belay stats"}'`)
	commandtest.Belay(t, "doctor").Ends(1).Prints("ok     belayd ", "WRONG  record     the database is not sound\n", "→ belay stats\n")
}

// A belayd of another version, or one that is broken, is reported, and the rest is checked all the same.
func TestDoctor_BelaydRefuses(t *testing.T) {
	commandtest.Place(t)
	commandtest.Script(t, "belayd", "echo 'belay: belay is 1 but its companion is 2' >&2; exit 125")
	commandtest.Belay(t, "doctor").Ends(1).Prints("WRONG  belayd ", ": belay is 1 but its companion is 2\n", "because belayd did not answer", "ok     clock ")
	commandtest.Script(t, "belayd", "exit 3")
	commandtest.Belay(t, "doctor").Ends(1).Prints("WRONG  belayd ", ": it did not answer\n")
	commandtest.Script(t, "belayd", "echo nonsense")
	commandtest.Belay(t, "doctor").Ends(1).Prints("WRONG  belayd ", ": its answer cannot be read\n")
}

// A state directory that cannot be made is wrong, without belayd too.
func TestDoctor_StateThatCannotBeMade(t *testing.T) {
	dir := commandtest.Place(t)
	must.OK(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	for _, name := range []string{"dangling", "dangling/a/b"} {
		t.Setenv("BELAY_STATE_DIR", filepath.Join(dir, name))
		commandtest.Belay(t, "doctor").Ends(1).Prints("WRONG  state ", name+": ", "→ export BELAY_STATE_DIR=")
	}
}
