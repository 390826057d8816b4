package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// checkConfig reads the settings as a run would.
func checkConfig() []Finding {
	settings, _, err := config.Load(nil, "")
	if err != nil {
		return One("settings", Wrong, settingFix(err), err.Error())
	}
	var list []Finding
	for _, u := range settings.Unread {
		if u.Instead != "" {
			list = append(list, One("settings", Note, "unset "+u.Var, u.String())...)
		}
	}
	for _, i := range settings.Ignored {
		if i.Own {
			list = append(list, One("settings", Wrong, settingFix(&config.Mistake{Path: i.Path, Line: i.Line}), i.String())...)
		}
	}
	if warning := settings.Warning(func(string) bool { return false }); warning != "" {
		list = append(list, One("settings", Note, "belay config show", warning)...)
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

func settingsFiles() []Finding {
	var read []string
	for _, f := range config.Files(".") {
		if f.State == "read" {
			read = append(read, term.Tilde(f.Path))
		}
	}
	if len(read) == 0 {
		return One("settings", Fine, "", "no settings file; using the defaults")
	}
	return One("settings", Fine, "", strings.Join(read, ", "))
}

// otherDirCommand is the command that sets another state directory, for one that cannot be fixed.
const otherDirCommand = "export " + state.DirVar + "=/some/directory/of/yours"

// withoutState is what becomes of runs where there is none.
const withoutState = "runs continue without gates and without a record"

// checkState looks at the state directory: without it there is no record and no gate.
func checkState() []Finding {
	dir, err := state.DefaultDir()
	if err != nil {
		return One("state", Wrong, otherDirCommand, err.Error())
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := checkMakable(dir); err != nil {
			return One("state", Wrong, otherDirCommand, message.Sentences(fmt.Sprintf("cannot create %s: %v", term.Tilde(dir), plainCause(err)), withoutState))
		}
		return One("state", Fine, "", term.Tilde(dir)+" does not exist yet; the first run creates it")
	}
	if err == nil {
		_, err = state.Open(dir) // it is there: nothing is made
	}
	if err != nil {
		why, advice, _ := strings.Cut(err.Error(), "; run: ")
		return One("state", Wrong, cmp.Or(advice, otherDirCommand), message.Sentences(why, withoutState))
	}
	var list []Finding
	if probe, err := os.CreateTemp(dir, ".doctor-"); err != nil {
		fix := otherDirCommand
		if info.Mode().Perm()&0o300 != 0o300 {
			fix = "chmod 700 " + dir
		}
		list = One("state", Wrong, fix, message.Sentences(fmt.Sprintf("cannot write to %s: %v", term.Tilde(dir), plainCause(err)), "runs continue without a record"))
	} else {
		probe.Close()
		os.Remove(probe.Name())
		list = One("state", Fine, "", term.Tilde(dir)+", "+term.Size(safefile.Size(dir)))
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		list = append(list, One("state", Wrong, "chmod 700 "+dir, message.OthersCanRead(term.Tilde(dir)))...)
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

// Database is the name of belayd's database in the state directory.
const Database = "observability.sqlite"

// openFiles are the files that other users can read although they record what was run.
func openFiles(dir string) (list []Finding) {
	if os.PathSeparator != '/' {
		return nil
	}
	for _, name := range []string{"log.jsonl", Database} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			list = append(list, One("state", Wrong, "chmod 600 "+path, message.OthersCanRead(term.Tilde(path)))...)
		}
	}
	return list
}

// logLarge is the size from which the log gets a note, the same as in a run.
const logLarge = 100 << 20

// checkLog looks at the log of runs.
func checkLog() (list []Finding) {
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
		list = append(list, One("record", Note, "belay prune --older-than 90d", "the log has grown to "+term.Size(large))...)
	}
	if refused, ok := errors.AsType[*safefile.Error](safefile.CheckOwn(filepath.Join(dir, "log.jsonl"))); ok {
		list = append(list, One("record", Wrong, MoveAside(refused.Path), fmt.Sprintf("%s %s, so runs are not recorded", term.Tilde(refused.Path), refused.Reason))...)
	}
	return list
}

// MoveAside returns the command that moves a file away.
func MoveAside(path string) string { return "mv " + path + " " + path + ".aside" }

// checkLeftovers looks for runs whose belay was killed, and puts them on record.
func checkLeftovers() (list []Finding) {
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
		return One("leftovers", Wrong, "", fmt.Sprintf("cannot look for what killed runs left: %v", err))
	}
	for _, r := range killed {
		if !r.IsRun() {
			continue
		}
		list = append(list, One("leftovers", Note, "belay log "+r.ID[max(0, len(r.ID)-8):], fmt.Sprintf("a run of %s was killed; it is now on record", r.Command))...)
	}
	if len(left) > 0 {
		return append(list, One("leftovers", Wrong, "belay ps --reap", fmt.Sprintf("%s %s killed and left processes running", message.Count(len(left), "run"), message.Verb(len(left), "was", "were")))...)
	}
	if len(unrecorded) > 0 {
		return append(list, One("leftovers", Wrong, "belay ps --reap", "belay was killed during a hook and left processes running")...)
	}
	return append(list, One("leftovers", Fine, "", fmt.Sprintf("none; %s in progress", message.Count(len(alive), "run")))...)
}

// Room that there should be at least.
const (
	littleRoom = 100 << 20
	scarceRoom = 1 << 30
)

// checkDisk looks at the disk of the state directory, or of what is to hold it.
func checkDisk() []Finding {
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
		return One("disk", Note, "", fmt.Sprintf("cannot determine the free space: %v", err))
	case free < littleRoom:
		return One("disk", Wrong, "df -h "+dir, fmt.Sprintf("only %s free; runs may not be recorded", term.Size(free)))
	case free < scarceRoom:
		return One("disk", Note, "df -h "+dir, message.DiskFree(term.Size(free)))
	}
	return One("disk", Fine, "", message.DiskFree(term.Size(free)))
}
