package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// fewTasks are tasks a to e.
type fewTasks int

func (n fewTasks) Name() string               { return "few" }
func (n fewTasks) Columns() ([]string, error) { return nil, nil }
func (n fewTasks) Open() (Reader, error)      { left := n; return &fewReader{n: int(left)}, nil }

type fewReader struct{ at, n int }

func (r *fewReader) Next() (Task, error) {
	if r.at == r.n {
		return Task{}, io.EOF
	}
	r.at++
	return Task{ID: fmt.Sprintf(`task "%d"`, r.at), Prompt: fmt.Sprint(r.at)}, nil
}
func (r *fewReader) Skip() error  { _, err := r.Next(); return err }
func (r *fewReader) Close() error { return nil }

func open(t testing.TB, path string, p *Plan) *Ledger {
	t.Helper()
	l, err := OpenLedger(path, "few")
	if err == nil {
		err = l.Load(p)
	}
	must.OK(t, err)
	return l
}

func plan(t testing.TB, n int) *Plan {
	t.Helper()
	p, err := Check(fewTasks(n), nil)
	must.OK(t, err)
	return p
}

// finishTask writes the result of a task, whose output has that size.
func finishTask(t testing.TB, l *Ledger, p *Plan, n uint32, size int) {
	t.Helper()
	task := Task{ID: fmt.Sprintf(`task "%d"`, n+1)}
	r := &Record{Task: task.ID, Hash: p.tasks[n].hash.String(), State: "done", Index: int(n), Begun: New, Cost: 0.25}
	err := l.Append(r, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, `{"success":true,"result":"%s"}`+"\n", strings.Repeat("x", size))
		return err
	})
	must.OK(t, err)
}

// Wherever the file ends, a later start finds the whole lines, cuts the torn one, and appends.
func TestLedger_TornAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	l := open(t, path, plan(t, 2))
	var ends []int64
	for n := range uint32(2) {
		finishTask(t, l, plan(t, 2), n, 4)
		ends = append(ends, l.size)
	}
	must.OK(t, l.Close(true))
	whole, err := os.ReadFile(path)
	must.OK(t, err)
	for cut := range len(whole) + 1 {
		must.OK(t, os.WriteFile(path, whole[:cut], 0o600))
		p := plan(t, 2)
		l := open(t, path, p)
		lines := 0
		for _, end := range ends {
			if int64(cut) >= end-1 { // a line of which only the end is missing is whole
				lines++
			}
		}
		if counts := p.Count(); counts[Done] != lines || l.Damaged != 0 || l.Spent != float64(lines)*0.25 {
			t.Fatalf("cut at %d: %v, %d damaged, spent %v, want %d lines", cut, counts, l.Damaged, l.Spent, lines)
		}
		for n := range uint32(2) {
			if *p.state(n) != Done {
				finishTask(t, l, p, n, 4)
			}
		}
		must.OK(t, l.Close(true))
		data, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(data, whole) {
			t.Fatalf("cut at %d: %v\n%s", cut, err, data)
		}
		if _, err := os.Stat(path + journalSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("the journal is left: %v", err)
		}
	}
}

// A line that is longer than what is held in memory is as whole as others.
func TestLedger_LongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	p := plan(t, 2)
	l := open(t, path, p)
	finishTask(t, l, p, 0, 3*maxLine)
	finishTask(t, l, p, 1, 10)
	must.OK(t, l.Close(true))
	p = plan(t, 2)
	l = open(t, path, p)
	defer l.Close(true)
	if counts := p.Count(); counts[Done] != 2 || l.Damaged != 0 {
		t.Errorf("%v, %d damaged", counts, l.Damaged)
	}
	var out bytes.Buffer
	if err := WriteResults(path, false, &out); err != nil || bytes.Count(out.Bytes(), []byte("\n")) != 2 || !json.Valid(bytes.SplitN(out.Bytes(), []byte("\n"), 2)[0]) {
		t.Errorf("%v", err)
	}
}

func TestLedger_InUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	l := open(t, path, plan(t, 1))
	_, err := OpenLedger(path, "few")
	if used, ok := errors.AsType[*InUse](err); !ok || used.Holder.PID != os.Getpid() {
		t.Errorf("%v", err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(path, link) == nil {
		if _, err := OpenLedger(link, "few"); err == nil {
			t.Error("by another name it is not in use")
		}
	}
	must.OK(t, l.Close(false))
	open(t, path, plan(t, 1)).Close(true)
}

// What was under way is known after a kill, with its session, wherever the journal ends; a result that was written just before counts.
func TestJournal_UnderWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	p := plan(t, 4)
	l := open(t, path, p)
	id := func(n int) string { return fmt.Sprintf(`task "%d"`, n) }
	for n := 1; n <= 4; n++ {
		l.note(startOf(id(n), p.tasks[n-1].hash, l.offset()))
	}
	l.note(note{Session: "s-1"}.about(id(1)))
	finishTask(t, l, p, 1, 10)
	l.note(endOf(id(2)))
	finishTask(t, l, p, 2, 10) // killed before it is noted that task 3 has ended
	l.journal.mu.Lock()
	l.journal.write()
	l.journal.mu.Unlock()
	l.file.Close()
	l.journal.file.Close() // as if killed
	again := plan(t, 4)
	second := open(t, path, again)
	if len(second.underWay) != 2 || second.underWay[id(1)].session != "s-1" || second.underWay[id(4)].hash != again.tasks[3].hash {
		t.Errorf("%+v", second.underWay)
	}
	second.note(startOf(id(1), again.tasks[0].hash, second.offset())) // killed again before there is a session
	second.file.Close()
	second.journal.file.Close()
	f, err := os.OpenFile(path+journalSuffix, os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	f.WriteString(`{"start":"torn`)
	f.Close()
	third := open(t, path, plan(t, 4))
	if third.underWay[id(1)].session != "s-1" || len(third.underWay) != 2 {
		t.Errorf("%+v", third.underWay)
	}
	third.note(endOf(id(1)))
	third.Close(false)
	if notes, live := readLive(path + journalSuffix); live || len(notes.underWay) != 1 || notes.underWay[id(4)].hash == 0 {
		t.Errorf("%v %+v", live, notes)
	}
}

// The journal of a batch that is killed and continued again and again stays small, and so does that of one that runs for long. What is known of
// tasks under way is kept, and a file that a kill has left half written is of no use and of no harm.
func TestJournal_StaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl") + journalSuffix
	size := func() int64 {
		info, err := os.Stat(path)
		must.OK(t, err)
		return info.Size()
	}
	continued := func() (*journal, map[string]interrupted) {
		j, underWay, err := openJournal(path, "tasks")
		must.OK(t, err)
		return j, underWay
	}
	var first int64
	for round := range 200 {
		j, underWay := continued()
		if round > 0 && (len(underWay) != 2 || underWay["a"] != (interrupted{hash: 1, session: "s", paid: 0.5, offset: 7}) || underWay["b"].hash != 2) {
			t.Fatalf("round %d: %+v", round, underWay)
		}
		j.note(startOf("a", 1, 7))
		j.note(note{Session: "s"}.about("a"))
		j.note(note{Paid: 0.5}.about("a"))
		j.note(startOf("b", 2, 9))
		j.note(note{Progress: []byte(`{"total":9}`)})
		if round == 0 {
			first = size()
		}
		j.file.Close() // as if killed
		must.OK(t, os.WriteFile(path+renewedSuffix, []byte(`{"holder":{"pid":1,"ho`), 0o600))
	}
	if now := size(); now > 2*first {
		t.Errorf("%d bytes became %d", first, now)
	}

	j, _ := continued()
	var largest int64
	for i := range 30_000 {
		id := fmt.Sprint("task-", i)
		j.note(startOf(id, Hash(i), int64(i)))
		if j.note(endOf(id)); i%100 == 0 {
			j.note(note{Progress: fmt.Appendf(nil, `{"total":%d}`, i)})
			largest = max(largest, size())
			if i%1000 == 0 && !isLocked(path) {
				t.Fatal("it is not locked")
			}
		}
	}
	if largest > maxJournal+64<<10 || largest < maxJournal/2 {
		t.Errorf("it has grown to %d bytes", largest)
	}
	if notes, live := readLive(path); !live || len(notes.underWay) > 3 || notes.underWay["a"].session != "s" || string(notes.progress) != `{"total":29900}` ||
		notes.holder.PID != os.Getpid() {
		t.Errorf("%v %+v", live, notes)
	}
	must.OK(t, j.close(true))
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// The beginning of a line says the same as all of it.
func FuzzParseRecord(f *testing.F) {
	r := Record{Task: "a", Hash: "0123456789abcdef", State: "done", Cost: 0.1, Index: 3, Begun: New}
	line, err := r.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(line, '}'))
	f.Add([]byte(`{"task":"a\"","hash":"0123456789abcdef","state":"failed","cost_usd":1,"index":0}`))
	f.Add([]byte(`{"task":"a","hash":"0123456789abcdef","state":"failed","cost_usd":1,"index":0,"task":"b"}`))
	f.Add([]byte("{\"task\":\"\xd7\xd7\",\"hash\":\"0123456789abcdef\",\"state\":\"done\",\"cost_usd\":0.1,\"index\":3}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		quick, ok := parseRecord(line)
		if !ok || !json.Valid(line) {
			return
		}
		var slow Record
		if json.Unmarshal(line, &slow) != nil || bytes.Count(line, []byte(`"task"`)) > 1 || bytes.Count(line, []byte(`"hash"`)) > 1 || bytes.Count(line, []byte(`"state"`)) > 1 ||
			bytes.Count(line, []byte(`"cost_usd"`)) > 1 || bytes.Count(line, []byte(`"index"`)) > 1 || bytes.ContainsAny(line, "\\ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return // keys that are there twice, or in other letters
		}
		if slow.Task != quick.task || slow.Hash != quick.hash.String() || slow.State != quick.state.String() || slow.Cost != quick.cost || slow.Index != quick.index {
			t.Errorf("%q: %+v, want %+v", line, quick, slow)
		}
	})
}

// Whatever a journal has, one that is written anew says the same of the tasks under way.
func FuzzNotes(f *testing.F) {
	f.Add([]byte(`{"start":"a","hash":"0123456789abcdef","offset":1}` + "\n" + `{"task":"a","session":"s"}` + "\n" + `{"end":"a"}` + "\n"))
	f.Add([]byte(`{"holder":{"pid":1,"host":"h","started":"2026-11-16T20:00:00Z","tasks":"t"}}` + "\n" + `{"start":"\ud800","hash":"0123456789abcdef"}` + "\n" + `{"task":"\ud800","paid_usd":1e-9}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := readNotes(bytes.NewReader(data))
		again := readNotes(bytes.NewReader(n.encode()))
		if !maps.Equal(again.underWay, n.underWay) || again.holder.PID != n.holder.PID || (again.progress == nil) != (n.progress == nil) || again.torn {
			t.Errorf("%+v became %+v", n, again)
		}
	})
}

// Each task takes so little that a million of them have room in 80 MiB.
func TestPlan_Memory(t *testing.T) {
	const tasks = 50_000
	path := filepath.Join(t.TempDir(), "tasks.txt")
	var text bytes.Buffer
	for i := range tasks {
		fmt.Fprintf(&text, "say %d\n", i)
	}
	must.OK(t, os.WriteFile(path, text.Bytes(), 0o600))
	before := heap()
	p, err := Check(&FileSource{Path: path, Format: Lines}, nil)
	must.OK(t, err)
	if each := (heap() - before) / tasks; p.Len() != tasks || each < 1 || each > 64 {
		t.Errorf("%d tasks take %d bytes each", p.Len(), each)
	}
}

// heap is how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// What a task has cost before the batch was killed is in its result in the end, and counts towards what all may cost.
func TestBatch_InterruptedTaskKeepsItsCost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	start := func(do func(context.Context, *Job) Outcome) (*Batch, Summary) {
		p := plan(t, 2)
		b := &Batch{Plan: p, Ledger: open(t, path, p), Jobs: 1, Do: do}
		sum, err := b.Run(t.Context())
		if err == nil {
			err = b.Ledger.Close(sum.Stop == NotStopped)
		}
		must.OK(t, err)
		return b, sum
	}
	// It is stopped while the first task has cost 3 in its session, as told, and once more after another 2.
	for _, cost := range []float64{3, 2} {
		start(func(_ context.Context, job *Job) Outcome {
			job.InSession("s1")
			job.Doing("model", cost-1)
			job.Doing("tool", cost)
			job.batch.cancel(errors.New("stopped"))
			return Outcome{State: Waiting, Cost: cost}
		})
	}
	_, sum := start(func(_ context.Context, job *Job) Outcome {
		if job.Index == 0 {
			job.Paid(6) // the agent itself has recorded an answer of which Belay has heard nothing
			job.Paid(4)
		}
		return Outcome{State: Done, Cost: 1}
	})
	if sum.Spent != 6+1+1 {
		t.Errorf("$%v spent", sum.Spent)
	}
	e, err := readEnded(path)
	if err != nil || e.cost != 6+1+1 {
		t.Errorf("%v, %v", e, err)
	}
}
