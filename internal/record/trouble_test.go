package record_test

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/test/must"
)

// spoil overwrites a part of a file.
func spoil(t *testing.T, path string, at int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteAt([]byte(strings.Repeat("\xde\xad", n/2)), at)
		f.Close()
	}
	must.OK(t, err)
}

// A damaged database is set aside, with a message, and made again from the log that is left.
func TestOpen_Damaged(t *testing.T) {
	tests := map[string]func(t *testing.T, path string){
		"garbage":    func(t *testing.T, path string) { spoil(t, path, 0, 5000) },
		"its header": func(t *testing.T, path string) { spoil(t, path, 0, 50) },
		"a text": func(t *testing.T, path string) {
			os.WriteFile(path, []byte("this is a text, not a database, and longer than a header is, well over a hundred characters long indeed"), 0o600)
		},
		"its first page": func(t *testing.T, path string) { spoil(t, path, 100, 3900) },
		"all its pages but the first": func(t *testing.T, path string) {
			info, _ := os.Stat(path)
			spoil(t, path, 4096, int(info.Size())-4096)
		},
		"cut": func(t *testing.T, path string) { os.Truncate(path, 9000) },
		"another program's": func(t *testing.T, path string) {
			os.Remove(path)
			d, _ := sql.Open("sqlite", path)
			if _, err := d.Exec("CREATE TABLE other (x)"); err != nil {
				t.Fatal(err)
			}
			d.Close()
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.append(runs(0, 100)...)
			d, _ := w.fold()
			d.Close()
			damage(t, filepath.Join(w.dir, record.Name))
			w.append(runs(100, 110)...)
			d = w.open()
			if _, err := d.Fold(ctx); err != nil {
				t.Fatal(err)
			}
			if list, err := d.Runs.Invocations(ctx, record.Filter{}); err != nil || len(list) != 110 {
				t.Errorf("%d runs, %v", len(list), err)
			}
			if len(d.Said) != 1 || !strings.Contains(d.Said[0], "It is now "+filepath.Join(w.dir, record.Name)+".damaged-") {
				t.Errorf("said %q", d.Said)
			}
			if aside, _ := filepath.Glob(filepath.Join(w.dir, record.Name+".damaged-*")); len(aside) == 0 {
				t.Error("it is not there any more")
			}
			w.expect("ok", "PRAGMA integrity_check")
		})
	}
}

// Something else in place of the database, or of a file that SQLite keeps beside it, is refused with its name, and what a
// link leads to is not touched. In place of the log it is passed over, with a message.
func TestOpen_OtherThings(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and pipes are others there")
	}
	things := map[string]func(path, other string) error{
		"directory":     func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"symbolic link": func(path, other string) error { return os.Symlink(other, path) },
		"hard link":     func(path, other string) error { return os.Link(other, path) },
		"named pipe":    func(path, _ string) error { return exec.Command("mkfifo", path).Run() },
	}
	for thing, put := range things {
		for _, name := range []string{record.Name, record.Name + "-wal", record.Name + "-shm", record.Name + "-journal", "log.jsonl", "log.jsonl.1"} {
			t.Run(name+" is a "+thing, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				path, other := filepath.Join(w.dir, name), filepath.Join(t.TempDir(), "other")
				const text = "a text of the user's, which is no database\n"
				must.OK(t, errors.Join(os.WriteFile(other, []byte(text), 0o600), put(path, other)))
				d, err := record.Open(w.dir)
				refused, ok := errors.AsType[*safefile.Error](err)
				if isLog := strings.HasPrefix(name, "log"); ok == isLog || ok && refused.Path != path {
					t.Errorf("%v", err)
				} else if isLog {
					_, err := d.Fold(ctx)
					if err != nil || len(d.Said) != 1 || !strings.HasPrefix(d.Said[0], path) {
						t.Errorf("%v, said %q", err, d.Said)
					}
					d.Close()
				} else if _, err := record.Examine(w.dir); err == nil || err.Error() != refused.Error() {
					t.Errorf("examined: %v", err)
				}
				if data, err := os.ReadFile(other); string(data) != text {
					t.Errorf("what the link leads to: %q, %v", data, err)
				}
			})
		}
	}
}

// Several processes that find the damage at the same time set one file aside, and nothing of the new one is lost.
func TestOpen_DamagedForMany(t *testing.T) {
	w := newWorld(t)
	w.append(runs(0, 200)...)
	d, _ := w.fold()
	d.Close()
	spoil(t, filepath.Join(w.dir, record.Name), 0, 5000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			d, err := record.Open(w.dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Close()
			if _, err := d.Fold(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.fold()
	w.expect("200", "SELECT count(*) FROM invocations")
	w.expect("200", "SELECT sum(ended) FROM rollup")
	if aside, _ := filepath.Glob(filepath.Join(w.dir, record.Name+".damaged-*")); len(aside) != 1 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestOpen_NewerSchema(t *testing.T) {
	w := newWorld(t)
	w.append(run(1))
	restore := record.Migrations("CREATE TABLE later (x)", "CREATE TABLE even_later (x)")
	d, _ := w.fold()
	d.Close()
	restore()
	_, err := record.Open(w.dir)
	if !errors.Is(err, database.ErrNewer) || !strings.Contains(err.Error(), fmt.Sprintf("schema %d, this one knows %d", record.Latest()+2, record.Latest())) || !strings.Contains(err.Error(), "Install that version") {
		t.Errorf("said %v", err)
	}
	w.expect("1", "SELECT count(*) FROM invocations") // it was left alone
	if _, err := record.Examine(w.dir); !errors.Is(err, database.ErrNewer) {
		t.Errorf("doctor said %v", err)
	}
}

// A database of the first version counts the failures of hooks and servers that it has on record, and none twice.
func TestOpen_FirstSchema(t *testing.T) {
	w, fresh := newWorld(t), newWorld(t)
	w.append(story()...)
	w.append(story()[9]) // the same hook, by the same text: it is the same
	fresh.append(story()...)
	fresh.fold()
	restore := record.Schema(1)
	d, err := record.Open(w.dir)
	must.OK(t, err)
	d.Close()
	w.exec("INSERT INTO events (timestamp, category, event_type, metadata, source) VALUES " +
		`(1793534400000, 'hook', 'error', '{"integration":"hook:lint","error_type":"crash"}', 'a'), ` +
		`(1793534400001, 'mcp', 'retry', '{"integration":"mcp:x","error_type":"crash"}', 'b'), ` +
		`(1793534400002, 'mcp', 'pollution', '{"integration":"mcp:x"}', 'c')`)
	restore()
	w.fold()
	w.expect("hook:fmt|crash|1\nhook:lint|crash|1\nmcp:files|timeout|1", "SELECT profile, class, faults FROM rollup WHERE faults > 0 ORDER BY profile")
	w.expect(fresh.query("SELECT * FROM rollup WHERE profile <> 'hook:lint'"), "SELECT * FROM rollup WHERE profile <> 'hook:lint'")
}

// A database that the version before has made is brought up to date: all of it can be asked, nothing is folded twice, and what
// comes is added.
func TestOpen_SecondSchema(t *testing.T) {
	w := newWorld(t)
	for name, to := range map[string]string{"schema2.sql": "", "schema2.jsonl": w.log()} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		must.OK(t, err)
		if to == "" {
			w.exec(string(data))
		} else if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.expect("2", "PRAGMA user_version")
	if h, err := record.Examine(w.dir); err != nil || !h.Older || h.Invocations != 5 {
		t.Errorf("before: %+v, %v", h, err)
	}
	w.expect("2", "PRAGMA user_version")
	before := w.counts()
	d, sum := w.fold()
	if sum.Lines != 0 || w.counts() != before {
		t.Errorf("folded %+v; there were %s, now %s", sum, before, w.counts())
	}
	all, err := d.Runs.Invocations(ctx, record.Filter{})
	if err != nil || len(all) != 5 {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for _, inv := range all {
		if inv.BelayCode != nil || inv.Parent != "" || inv.Inner != 0 || inv.Usage.Unknown {
			t.Errorf("%+v", inv)
		}
	}
	if claude := all[0]; claude.Usage.CostUSD == nil || *claude.Usage.CostUSD < 0.001 {
		t.Errorf("%+v", claude.Usage)
	}
	if list, err := d.Runs.Attempts(ctx, record.Filter{}); err != nil || len(list) != 8 || list[0].FirstMS != nil || list[0].Tools != nil {
		t.Errorf("%+v, %v", list, err)
	}
	// Two sessions were left by a retry, and were said to run for ever.
	w.expect("claude|abandoned|1\nclaude|done|1\ncodex|abandoned|1\ncodex|done|1", "SELECT profile, status, invocations FROM sessions ORDER BY profile, status")
	w.append(tooled())
	d.Fold(ctx)
	_, total, err := d.Stats.Groups(ctx, record.Filter{}, record.ByProfile, time.UTC)
	if err != nil || total.Invocations != 6 || total.Attempts != 9 || total.UnknownCosts != 0 {
		t.Errorf("%+v, %v", total, err)
	}
	if found, err := d.Runs.Invocations(ctx, record.Filter{Invocation: tooled().Invocation}); err != nil || len(found) != 1 || *found[0].BelayCode != 75 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A database of the second version loses what was no final result, and delivers what it has to deliver.
func TestOpen_SecondSchemaEventsAndAlerts(t *testing.T) {
	w := newWorld(t)
	restore := record.Schema(2)
	d, err := record.Open(w.dir)
	must.OK(t, err)
	d.Close()
	w.exec("INSERT INTO events (timestamp, category, event_type, metadata, source) VALUES " +
		`(1793534400001, 'mcp', 'retry', '{"integration":"mcp:x"}', 'a'), (1793534400002, 'mcp', 'crash', '{"integration":"mcp:x","error_type":"crash"}', 'b')`)
	w.exec("INSERT INTO alerts (timestamp, integration, failures, within_ms, source) VALUES (1793534400000, 'claude', 5, 600000, 'a'), (1793534460000, 'gh', 5, 600000, 'b')")
	restore()
	d = w.open()
	w.expect("crash", "SELECT event_type FROM events")
	configured := time.UnixMilli(1793534430000)
	now := configured.Add(time.Minute)
	since, err := d.Alerts.SinkSince(ctx, "x", configured)
	if err != nil || !since.Equal(configured) {
		t.Errorf("%v, %v", since, err)
	}
	if again, err := d.Alerts.SinkSince(ctx, "x", now); err != nil || !again.Equal(configured) { // the file was changed, the receiver was not
		t.Errorf("%v, %v", again, err)
	}
	if a, ok, err := d.Alerts.Claim(ctx, now, since); !ok || err != nil || a.Integration != "gh" {
		t.Errorf("%+v, %v, %v", a, ok, err)
	}
	if a, ok, err := d.Alerts.Claim(ctx, now, since); ok || err != nil {
		t.Errorf("%+v, %v, %v", a, ok, err)
	}
	if other, err := d.Alerts.SinkSince(ctx, "y", now); err != nil || !other.Equal(now) {
		t.Errorf("%v, %v", other, err)
	}
}

func TestOpen_OlderSchema(t *testing.T) {
	w := newWorld(t)
	w.append(runs(0, 5)...)
	d, _ := w.fold()
	d.Close()
	defer record.Migrations("ALTER TABLE invocations ADD COLUMN later TEXT DEFAULT 'unknown'")()
	w.append(runs(5, 8)...)
	var all sync.WaitGroup
	for range 6 { // all find the old one
		all.Go(func() {
			d, err := record.Open(w.dir)
			if err == nil {
				_, err = d.Fold(ctx)
				d.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.expect("8|unknown", "SELECT count(*), min(later) FROM invocations")
	w.expect(fmt.Sprint(record.Latest()), "PRAGMA user_version")
}

// Many processes that start at the same time make one database.
func TestOpen_FirstForMany(t *testing.T) {
	w := newWorld(t)
	w.append(runs(0, 50)...)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			d, err := record.Open(w.dir)
			if err == nil {
				_, err = d.Fold(ctx)
				d.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.expect("50", "SELECT count(*) FROM invocations")
}

func TestOpen_StrangeDirectory(t *testing.T) {
	for _, name := range []string{"with space", "a?b=c&d", "per%41cent", "ha#sh", "[a]*", "日本", "quo'te\"s"} {
		w := newWorld(t)
		w.dir = filepath.Join(w.dir, name)
		must.OK(t, os.Mkdir(w.dir, 0o700))
		w.append(run(1))
		must.OK(t, os.Rename(w.log(), w.log()+".1"))
		w.append(run(2))
		d, sum := w.fold()
		if sum.Lines != 2 {
			t.Errorf("%q: folded %+v", name, sum)
		}
		d.Close()
		if info, err := os.Stat(filepath.Join(w.dir, record.Name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
}

// A database is there before its tables are: belayd makes it when a failed run wakes it up.
func TestExamine_JustBeingMade(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.dir, record.Name)
	must.OK(t, os.WriteFile(path, nil, 0o600))
	made, err := sql.Open("sqlite", path)
	must.OK(t, err)
	defer made.Close()
	if _, err := made.Exec("PRAGMA journal_mode = WAL"); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Examine(w.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("said %v", err)
	}
	if _, err := made.Exec("CREATE TABLE other (x)"); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Examine(w.dir); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("said %v of a database of something else", err)
	}
}

func TestExamine(t *testing.T) {
	w := newWorld(t)
	if _, err := record.Examine(w.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("said %v", err)
	}
	w.append(runs(0, 30)...)
	w.text("torn\n")
	d, _ := w.fold()
	d.Close()
	if h, err := record.Examine(w.dir); err != nil || h.Invocations != 30 || h.Torn != 1 || h.Size == 0 || h.Older {
		t.Errorf("%+v, %v", h, err)
	}
	spoil(t, filepath.Join(w.dir, record.Name), 4096, 40960)
	if _, err := record.Examine(w.dir); err == nil {
		t.Error("it found nothing")
	}
	if aside, _ := filepath.Glob(filepath.Join(w.dir, "*.damaged*")); len(aside) > 0 {
		t.Error("to look has changed something")
	}
}

// Damage that shows only when a question is asked is mended by whichever command asks, and the question is answered.
func TestAsk_Damaged(t *testing.T) {
	t.Parallel()
	questions := map[string]func(d *record.DB) (n int, err error){
		"runs": func(d *record.DB) (int, error) {
			list, err := d.Runs.Invocations(ctx, record.Filter{})
			return len(list), err
		},
		"attempts": func(d *record.DB) (int, error) {
			list, err := d.Runs.Attempts(ctx, record.Filter{})
			return len(list), err
		},
		"recent": func(d *record.DB) (int, error) {
			list, err := d.Runs.Recent(ctx, record.Filter{Profile: "claude", Limit: 1000})
			return len(list), err
		},
		"stats": func(d *record.DB) (int, error) {
			_, total, err := d.Stats.Groups(ctx, record.Filter{}, record.ByDay, time.UTC)
			return int(total.Invocations), err
		},
		"series": func(d *record.DB) (n int, err error) {
			list, err := d.Stats.Series(ctx, record.Filter{}, record.Reliability, func(at time.Time) time.Time { return at.Truncate(time.Hour) }, record.ByClass, record.ByProfile)
			return len(list), err
		},
		"meters": func(d *record.DB) (int, error) { list, _, err := d.Stats.Meters(ctx); return len(list), err },
		"events": func(d *record.DB) (int, error) {
			list, err := d.Trail.Events(ctx, record.Filter{}, "")
			return len(list), err
		},
		"values": func(d *record.DB) (int, error) {
			list, err := d.Stats.Values(ctx, record.ByProfile, 100)
			return len(list), err
		},
		"first": func(d *record.DB) (int, error) { _, err := d.Stats.First(ctx); return 0, err },
	}
	sound := newWorld(t)
	sound.append(runs(0, 40)...)
	d, _ := sound.fold()
	want := map[string]int{}
	for name, ask := range questions {
		want[name], _ = ask(d)
	}
	d.Close()
	whole, err := os.ReadFile(filepath.Join(sound.dir, record.Name))
	must.OK(t, err)
	w := newWorld(t)
	w.append(runs(0, 40)...)
	file, fills := filepath.Join(w.dir, record.Name), []string{"\x00", "\x0d\x00", "\xff"}
	mended := 0
	for page := 1; page < len(whole)/4096; page++ {
		for _, more := range []string{"", "-wal", "-shm"} {
			os.Remove(file + more)
		}
		spoilt, with := slices.Clone(whole), fills[page%len(fills)]
		copy(spoilt[page*4096:], strings.Repeat(with, 4096/len(with)))
		must.OK(t, os.WriteFile(file, spoilt, 0o600))
		d := w.open()
		if _, err := d.Fold(ctx); err != nil {
			t.Fatal(err)
		}
		found := len(d.Said) // by the fold
		for _, name := range slices.Sorted(maps.Keys(questions)) {
			n, err := questions[name](d)
			if err != nil || len(d.Said) > 0 && n != want[name] {
				t.Errorf("page %d of %q, %s: %d of %d, %v, said %q", page, with, name, n, want[name], err, d.Said)
			}
		}
		if mended += len(d.Said) - found; len(d.Said) > 1 {
			t.Errorf("page %d of %q: said %q", page, with, d.Said)
		}
		d.Close()
	}
	if mended == 0 {
		t.Error("no question has found any damage")
	}
}
