package companion

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/companion/db"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
)

// checkConfig reads the settings as a run would.
func checkConfig() []finding {
	settings, _, err := config.Load(nil, "")
	if err != nil {
		return one("settings", wrong, settingFix(err), "%v", err)
	}
	var list []finding
	for _, u := range settings.Unread {
		if u.Instead != "" {
			list = append(list, one("settings", note, "unset "+u.Var, "%s has no effect; %s would", u.Var, u.Instead)...)
		}
	}
	if warning := settings.Warning(); warning != "" {
		list = append(list, one("settings", note, "belay config show", "%s", warning)...)
	}
	return append(settingsFiles(), list...)
}

// settingFix returns the command that fixes a wrong setting.
func settingFix(err error) string {
	m, ok := errors.AsType[*config.Mistake](err)
	switch {
	case !ok:
		return "belay config show"
	case m.Var != "":
		return "unset " + m.Var
	case m.Line > 0:
		return fmt.Sprintf("${EDITOR:-vi} +%d %s", m.Line, m.Path)
	}
	return "${EDITOR:-vi} " + m.Path
}

func settingsFiles() []finding {
	var read []string
	for _, f := range config.Files(".") {
		if f.State == "read" {
			read = append(read, tilde(f.Path))
		}
	}
	if len(read) == 0 {
		return one("settings", fine, "", "no file; defaults")
	}
	return one("settings", fine, "", "%s", strings.Join(read, ", "))
}

// otherDirCommand is the command that sets another state directory, for one that cannot be fixed.
const otherDirCommand = "export " + state.DirVar + "=/some/directory/of/yours"

// checkState looks at the state directory: without it there is no record and no gate.
func checkState() []finding {
	dir, err := state.DefaultDir()
	if err != nil {
		return one("state", wrong, otherDirCommand, "%v", err)
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := checkMakable(dir); err != nil {
			return one("state", wrong, otherDirCommand, "%s cannot be made: %v; runs go on without gates and record", tilde(dir), plainCause(err))
		}
		return one("state", fine, "", "%s is not there yet; the first run makes it", tilde(dir))
	}
	if err == nil {
		_, err = state.Open(dir) // it is there: nothing is made
	}
	if err != nil {
		why, advice, _ := strings.Cut(err.Error(), "; run: ")
		return one("state", wrong, cmp.Or(advice, otherDirCommand), "%s; runs go on without gates and record", why)
	}
	var list []finding
	if probe, err := os.CreateTemp(dir, ".doctor-"); err != nil {
		fix := otherDirCommand
		if info.Mode().Perm()&0o300 != 0o300 {
			fix = "chmod 700 " + dir
		}
		list = one("state", wrong, fix, "%s cannot be written: %v; runs go on without record", tilde(dir), plainCause(err))
	} else {
		probe.Close()
		os.Remove(probe.Name())
		list = one("state", fine, "", "%s, %s", tilde(dir), sizeText(treeSize(dir)))
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		list = append(list, one("state", wrong, "chmod 700 "+dir, "others may read %s", tilde(dir))...)
	}
	return append(list, openFiles(dir)...)
}

// checkMakable says why a directory cannot be made; nil if it can. It tries in the nearest parent directory that exists.
func checkMakable(dir string) error {
	for {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	probe, err := os.MkdirTemp(dir, ".doctor-")
	if err == nil {
		os.Remove(probe)
	}
	return err
}

// plainCause is an error without the path of a temporary file.
func plainCause(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// openFiles are the files that other users can read although they record what was run.
func openFiles(dir string) (list []finding) {
	if os.PathSeparator != '/' {
		return nil
	}
	for _, name := range []string{"log.jsonl", db.Name} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			list = append(list, one("state", wrong, "chmod 600 "+path, "others may read %s", tilde(path))...)
		}
	}
	return list
}

func treeSize(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be seen is not counted
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// logLarge is the size from which the log gets a note, the same as in a run.
const logLarge = 100 << 20

// checkRecord looks whether the log and the database can be read.
func checkRecord() (list []finding) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil
	}
	var large int64
	logs, _ := filepath.Glob(filepath.Join(dir, "log.jsonl*"))
	for _, path := range logs {
		if info, err := os.Stat(path); err == nil {
			large += info.Size()
		}
	}
	if large > logLarge {
		list = append(list, one("record", note, "belay prune --older-than 90d", "the log has grown to %s", sizeText(large))...)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, db.Name+".damaged-*")); len(aside) > 0 {
		list = append(list, one("record", note, "rm "+filepath.Join(dir, db.Name)+".damaged-*", "a damaged database was set aside: %s", tilde(aside[0]))...)
	}
	if refused, ok := errors.AsType[*safefile.Error](safefile.CheckOwn(filepath.Join(dir, "log.jsonl"))); ok {
		list = append(list, one("record", wrong, moveAside(refused.Path), "%s %s; no run is put on record", tilde(refused.Path), refused.Reason)...)
	}
	health, err := db.Examine(dir)
	refused, ok := errors.AsType[*safefile.Error](err)
	switch {
	case ok:
		return append(list, one("record", wrong, moveAside(refused.Path), "%s %s; the database cannot be used", tilde(refused.Path), refused.Reason)...)
	case errors.Is(err, fs.ErrNotExist):
		return append(list, one("record", fine, "", "no database yet; the first question makes it")...)
	case errors.Is(err, db.ErrNewer):
		return append(list, one("record", wrong, "make install", "%v", err)...)
	case err != nil:
		return append(list, one("record", wrong, "belay stats", "the database is not sound (%v); the next question sets it aside and makes it again", err)...)
	}
	text := fmt.Sprintf("%s in %s", count64(health.Invocations, "run"), sizeText(health.Size))
	if health.Torn > 0 {
		text += fmt.Sprintf("; %s of the log were torn by a kill", count64(health.Torn, "line"))
	}
	if health.Older {
		text += "; an older version made it, and the next question brings it up to date"
	}
	return append(list, one("record", fine, "", "%s", text)...)
}

// moveAside is the command that moves a file away.
func moveAside(path string) string { return "mv " + path + " " + path + ".aside" }

// checkLeftovers looks for runs whose belay was killed, and puts them on record.
func checkLeftovers() (list []finding) {
	dir, err := state.DefaultDir()
	if err != nil {
		return nil
	}
	own, _ := config.Prices() // a mistake in the file is reported elsewhere
	state := &state.State{Dir: dir, Prices: own}
	killed, left, err := state.ReportKilled()
	alive, lerr := state.Records().List()
	unrecorded, uerr := state.Records().Unrecorded()
	if err := errors.Join(err, lerr, uerr); err != nil {
		return one("leftovers", wrong, "", "cannot be looked for: %v", err)
	}
	for _, r := range killed {
		if !r.IsRun() {
			continue
		}
		list = append(list, one("leftovers", note, "belay log "+shortID(r.ID), "a run of %s was killed; it is on record now", r.Command)...)
	}
	if len(left) > 0 {
		return append(list, one("leftovers", wrong, "belay ps --reap", "%s was killed and has left processes", count64(int64(len(left)), "run"))...)
	}
	if len(unrecorded) > 0 {
		return append(list, one("leftovers", wrong, "belay ps --reap", "belay was killed while a hook ran, and processes are left")...)
	}
	return append(list, one("leftovers", fine, "", "none; %s under way", count64(int64(len(alive)), "run"))...)
}

// Room that there should be at least.
const (
	littleRoom = 100 << 20
	scarceRoom = 1 << 30
)

// checkDisk looks at the disk of the state directory, or of what is to hold it.
func checkDisk() []finding {
	dir, err := state.DefaultDir()
	for err == nil {
		if _, serr := os.Stat(dir); serr == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, err := freeSpace(dir)
	switch {
	case err != nil:
		return one("disk", note, "", "free space is not known: %v", err)
	case free < littleRoom:
		return one("disk", wrong, "df -h "+dir, "only %s are free; the record may not be kept", sizeText(free))
	case free < scarceRoom:
		return one("disk", note, "df -h "+dir, "%s are free", sizeText(free))
	}
	return one("disk", fine, "", "%s are free", sizeText(free))
}
