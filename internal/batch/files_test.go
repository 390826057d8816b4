package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/batch/tasks"
	"github.com/belay-run/belay/internal/test/must"
)

func put(t testing.TB, path, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

func has(t testing.TB, path, want string) {
	t.Helper()
	if data, err := os.ReadFile(path); err != nil || string(data) != want {
		t.Errorf("%s: %q, %v; want %q", path, data, err, want)
	}
}

// What is taken for results, and what is not.
func TestIsLedger(t *testing.T) {
	const record = `{"task":"a","hash":"0123456789abcdef","state":"done","cost_usd":0,"index":0,"begun":"new"}`
	for text, want := range map[string]bool{
		"": true, "\n": true, "  ": true, record + "\n": true, "\n\r\n" + record + "\n": true, record: true, record[:30]: true, `{"ta`: true,
		"\x00\x00" + record + "\n": true, `{"task":"broken` + "\n" + record + "\n": true,
		`{"hash":"0123456789abcdef","task":"a","state":"done"}` + "\n":                            true, // by another program, in its own order
		`{"task":"M\\xFCller","escaped":true,"ha`:                                                 true,
		`{"task":"` + strings.Repeat("x", 200<<10) + `","hash":"0123456789abcdef","state":"done"`: false, // the id alone is longer than a task's
		strings.TrimSuffix(record, "}") + `,"result":"` + strings.Repeat("x", 200<<10) + "\"}\n":  true,
		"\nmy notes\nlast": false, `{"task":"a"}`: false, `{"task":"a"}` + "\n" + `{"task":"b"}`: false, `{"task":"a","prompt":"x`: false, "notes\n" + record + "\n": false,
		"\x00\x00\x00": false, "[]": false, strings.Repeat("\n", 2<<20) + "notes": false, strings.Repeat("x", 100<<10): false,
	} {
		if isLedger(strings.NewReader(text), false) != want {
			t.Errorf("%.80q: %v", text, !want)
		}
	}
	if !isLedger(strings.NewReader("\x00\x00\x00"), true) || isLedger(strings.NewReader("notes"), true) {
		t.Error("with a journal beside it")
	}
}

// No two ids are written in the same way, and each is read back.
func FuzzID(f *testing.F) {
	for _, id := range []string{"a", "M\xfcller", `M\xFCller`, `\x5C`, `\\xFC`, `\x`, `\xfc`, "\xff\xfe\\x", "\u2028\x00\"", `C:\xAA`} {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, id, other string) {
		if id == "" {
			return
		}
		r := Record{Task: id, Hash: "0123456789abcdef", State: "done", Begun: New}
		line, _ := r.encode()
		if p, ok := parseRecord(append(line, '}')); !ok || p.task != id {
			t.Errorf("%q became %q", id, p.task)
		}
		a, _ := escapeID(id)
		b, _ := escapeID(other)
		if (a == b) != (id == other) {
			t.Errorf("%q and %q are both %q", id, other, a)
		}
		n := notes{underWay: map[string]interrupted{id: {hash: 1, session: "s", paid: 2, output: 3, temp: "t"}}}
		if again := readNotes(bytes.NewReader(n.encode())); again.underWay[id] != n.underWay[id] {
			t.Errorf("%q: %+v", id, again.underWay)
		}
	})
}

// Results of an earlier version, whose ids have what looks like an escape, are read as they were written.
func TestRecord_EarlierVersion(t *testing.T) {
	p, ok := parseRecord([]byte(`{"task":"C:\\xAA","hash":"0123456789abcdef","state":"done","cost_usd":0,"index":0}`))
	if !ok || p.task != `C:\xAA` {
		t.Errorf("%q", p.task)
	}
}

// The journal and the copy of tasks of an earlier version, which marked neither: a batch continues with both. The journal is removed at the end; the copy
// cannot be told from a file of the user's, and stays.
func TestEarlierVersion_Continues(t *testing.T) {
	dir := t.TempDir()
	results := filepath.Join(dir, "r")
	put(t, results, `{"task":"b6a2c3c2e7d8","hash":"b6a2c3c2e7d8f000","state":"done","cost_usd":0.5,"index":0,"line":1,"begun":"new","ended":"2026-11-17T21:00:00Z","success":true,"result":"one\n"}`+"\n")
	put(t, results+journalSuffix, `{"holder":{"pid":4711,"host":"h","started":"2026-11-17T21:00:00Z","tasks":"-"}}`+"\n"+`{"start":"x","hash":"0123456789abcdef","offset":186}`+"\n"+`{"task":"x","session":"s"}`+"\n")
	put(t, results+".tasks", "one\ntwo\n")
	spool, err := ReadSpool(t.Context(), strings.NewReader(""), results, false)
	if err != nil || spool.Path != results+".tasks" {
		t.Fatalf("%+v, %v", spool, err)
	}
	p, err := Check(&FileSource{Path: spool.Path, Format: Lines}, nil)
	if err != nil || p.Len() != 2 {
		t.Fatalf("%v, %v", p, err)
	}
	l := open(t, results, p)
	if l.Spent != 0.5 || l.underWay["x"].session != "s" {
		t.Errorf("%v, %+v", l.Spent, l.underWay)
	}
	l.RemoveSpool(results)
	must.OK(t, l.Close(true))
	has(t, results+".tasks", "one\ntwo\n")
	if _, err := os.Stat(results + journalSuffix); err == nil {
		t.Error("the journal is left")
	}
	// New tasks go elsewhere, and are what a later start continues with.
	spool, err = ReadSpool(t.Context(), strings.NewReader("three\n"), results, false)
	if err == nil {
		err = spool.Keep()
	}
	if err != nil || spool.Path != results+".stdin" {
		t.Fatalf("%+v, %v", spool, err)
	}
	if spool, err = ReadSpool(t.Context(), nil, results, true); err != nil || spool.Path != results+".stdin" {
		t.Errorf("%+v, %v", spool, err)
	}
	tasks.RemoveSpool(results)
	has(t, results+".tasks", "one\ntwo\n")
	if _, err := os.Stat(results + ".stdin"); err == nil {
		t.Error("the copy is left")
	}
}

// A foreign file at the name of the journal, or of the one that takes its place, is neither written to nor removed.
func TestJournal_NamesAreTaken(t *testing.T) {
	for _, text := range []string{"mine\n", `{"holder":"me"}`, `{"start":"2026"}` + "\n", "\x00\x00", "{"} {
		results := filepath.Join(t.TempDir(), "r")
		put(t, results+journalSuffix, text)
		if _, err := OpenLedger(results, "t"); err == nil {
			t.Errorf("%q is taken for a journal", text)
		}
		has(t, results+journalSuffix, text)
		if _, err := os.Stat(results); err == nil {
			t.Error("results were begun")
		}
		results = filepath.Join(t.TempDir(), "r")
		put(t, results+journalSuffix+renewedSuffix, text)
		p := plan(t, 2)
		l := open(t, results, p)
		l.note(startOf("x", 1, 0))
		l.file.Close()
		l.journal.file.Close() // as if killed
		again := open(t, results, plan(t, 2))
		if again.underWay["x"].hash != 1 {
			t.Errorf("%+v", again.underWay)
		}
		again.Close(true)
		has(t, results+journalSuffix+renewedSuffix, text)
	}
	results := filepath.Join(t.TempDir(), "r")
	put(t, results+journalSuffix, "")
	open(t, results, plan(t, 1)).Close(true)
	has(t, results+journalSuffix, "") // it was there before
}

// A last line that Belay did not write is not cut, but ended.
func TestLedger_ForeignEnd(t *testing.T) {
	results := filepath.Join(t.TempDir(), "r")
	p := plan(t, 2)
	l := open(t, results, p)
	finishTask(t, l, p, 0, 3)
	l.Close(false)
	whole, _ := os.ReadFile(results)
	put(t, results, string(whole)+"a note without an end")
	p = plan(t, 2)
	l = open(t, results, p)
	if l.Torn != 0 || l.Damaged != 1 {
		t.Errorf("torn %d, damaged %d", l.Torn, l.Damaged)
	}
	l.Close(true)
	has(t, results, string(whole)+"a note without an end\n")
}

// Whatever another program does to the results between two tasks, each task has its result, or it is said that it has none.
func TestLedger_ChangedMeanwhile(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(path string) error
		stop   StopReason
		lost   int
	}{
		"nothing":  {func(string) error { return nil }, NotStopped, 0},
		"replaced": {func(path string) error { return errors.Join(copyTo(path, path+".c"), os.Rename(path+".c", path)) }, NotStopped, 0},
		"replaced by less": {func(path string) error {
			return errors.Join(os.WriteFile(path+".c", nil, 0o600), os.Rename(path+".c", path))
		}, NotStopped, 0},
		"removed":           {os.Remove, NotStopped, 0},
		"moved":             {func(path string) error { return os.Rename(path, path+".old") }, NotStopped, 0},
		"directory removed": {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, NotStopped, 0},
		"appended to": {func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("note")
				f.Close()
			}
			return err
		}, NotStopped, 0},
		"truncated": {func(path string) error { return os.Truncate(path, 0) }, ResultsLost, 3},
		"cut":       {func(path string) error { return os.Truncate(path, 400) }, ResultsLost, 2},
		"another file": {func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("mine"), 0o600))
		}, Unwritable, 0},
		"overwritten": {func(path string) error { return os.WriteFile(path, []byte("mine, and longer than before"), 0o600) }, Unwritable, 0},
	} {
		for _, at := range []int{3, 5} { // while others follow, and by the last one
			t.Run(name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "sub", "results.jsonl")
				os.Mkdir(filepath.Dir(path), 0o700)
				p := plan(t, 5)
				l := open(t, path, p)
				b := &Batch{Plan: p, Ledger: l, Jobs: 1}
				b.Do = func(_ context.Context, job *Job) Outcome {
					if job.Index == at-1 {
						if err := tt.change(path); err != nil {
							t.Error(err)
						}
					}
					return Outcome{State: Done, Result: func(w io.Writer) error {
						_, err := io.WriteString(w, `{"success":true,"result":"`+strings.Repeat("x", 200)+`"}`+"\n")
						return err
					}}
				}
				sum, err := b.Run(t.Context())
				cerr := l.Close(sum.Stop == NotStopped)
				lost := tt.lost
				if lost > 0 && at == 5 {
					lost += 2
				}
				if lost > 0 {
					lost-- // the one that runs meanwhile is written afterwards
				}
				if err != nil || sum.Stop != tt.stop || tt.stop == ResultsLost && sum.Counts[Waiting] != lost {
					t.Errorf("by task %d: %v, %v, %+v", at, err, cerr, sum)
				}
				if tt.stop == Unwritable {
					if data, _ := os.ReadFile(path); !bytes.HasPrefix(data, []byte("mine")) {
						t.Errorf("%q", data)
					}
					return
				}
				again := plan(t, 5)
				next := open(t, path, again)
				defer next.Close(true)
				if counts := again.Count(); counts[Done] != 5-lost {
					t.Errorf("by task %d: %v", at, counts)
				}
				if data, _ := os.ReadFile(path); bytes.IndexByte(data, 0) >= 0 {
					t.Error("NUL bytes")
				}
			})
		}
	}
}

// Another program that writes the results again in place empties the file first. A result that comes in between is written over from its beginning: what
// is a line then has the beginning of one result and the end of another, and is neither of them.
func TestLedger_WrittenOver(t *testing.T) {
	tasks := []string{"an answer", "of others"}
	for _, longer := range []int{0, 30, 500_000} { // the second result is longer than the first
		t.Run(fmt.Sprint(longer), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r")
			play := func(over int) (lines [2]string, sum Summary) {
				os.Remove(path)
				p := plan(t, 2)
				l := open(t, path, p)
				b := &Batch{Plan: p, Ledger: l, Jobs: 1}
				b.Do = func(_ context.Context, job *Job) Outcome {
					if job.Index == 1 && over >= 0 {
						os.Truncate(path, 0)
					}
					return Outcome{State: Done, Result: func(w io.Writer) error {
						_, err := fmt.Fprintf(w, `{"success":true,"result":"%s%s"}`+"\n", tasks[job.Index], strings.Repeat("y", longer*job.Index))
						return err
					}}
				}
				b.Written = func(job *Job) {
					data, _ := os.ReadFile(path)
					lines[job.Index] = string(data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:])
					if job.Index == 1 && over >= 0 {
						f, err := os.OpenFile(path, os.O_WRONLY, 0)
						if err == nil {
							_, err = f.WriteString(lines[0][:min(over, len(lines[0]))])
							f.Close()
						}
						if err != nil {
							t.Error(err)
						}
					}
				}
				sum, err := b.Run(t.Context())
				if err := errors.Join(err, l.Close(sum.Stop == NotStopped)); err != nil {
					t.Error(err)
				}
				return lines, sum
			}
			whole, _ := play(-1)
			step := 5
			if longer > maxLine {
				step = 50
			}
			for over := 1; over <= len(whole[0]); over += step {
				lines, sum := play(over)
				again := plan(t, 2)
				l, err := OpenLedger(path, "few")
				if err == nil {
					err = l.Load(again)
				}
				if err != nil {
					t.Fatalf("%d bytes are written over: %v", over, err)
				}
				l.Close(true)
				data, _ := os.ReadFile(path)
				for n := range uint32(2) {
					if *again.state(n) == Done != strings.Contains(string(data), lines[n]) {
						t.Fatalf("%d bytes are written over: task %d is %v:\n%.600s", over, n, *again.state(n), data)
					}
				}
				if left := again.Count()[Waiting]; left == 0 || left != sum.Counts[Waiting] || sum.Stop != ResultsLost {
					t.Fatalf("%d bytes are written over: %d left, %+v", over, left, sum)
				}
			}
		})
	}
}

func copyTo(from, to string) error {
	data, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, data, 0o600))
}

// A batch that is killed before the file that is to take the place of the journal has its mark leaves an empty one, which the next removes.
func TestJournal_KilledBeforeTheMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r") + journalSuffix
	put(t, path, journalMark+`1,"host":"h","started":"2026-11-17T21:00:00Z","tasks":"t"}}`+"\n"+`{"start":"x","hash":"0123456789abcdef","offset":1}`+"\n"+`{"sta`+"\n"+`{"renewing":true}`+"\n")
	put(t, path+renewedSuffix, "")
	j, underWay, err := openJournal(path, "t")
	if err != nil || underWay["x"].offset != 1 {
		t.Fatalf("%+v, %v", underWay, err)
	}
	j.close(true)
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("%q", left)
	}
	// Where the journal says nothing of the kind, it is the user's.
	put(t, path, journalMark+`1,"host":"h","started":"2026-11-17T21:00:00Z","tasks":"t"}}`+"\n")
	put(t, path+renewedSuffix, "")
	if j, _, err = openJournal(path, "t"); err != nil {
		t.Fatal(err)
	}
	j.close(true)
	has(t, path+renewedSuffix, "")
}
