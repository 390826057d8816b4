package supervise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func idsOf(list []supervise.Record) (names []string) {
	for _, rec := range list {
		names = append(names, rec.ID)
	}
	slices.Sort(names)
	return names
}

// A row is a record like any other for those who look, and what has no room in one has a file.
func TestRows(t *testing.T) {
	records := supervise.Records{Dir: t.TempDir()}
	rows, err := records.CreateRows("batch")
	must.OK(t, err)
	made := map[string]*supervise.Record{}
	for _, id := range []string{"a", "b", "c"} {
		rec, ok := rows.Create(supervise.Record{ID: id, Command: "make", Started: time.Now(), Attempt: 1, Batch: "/w/r.jsonl", Task: "t-" + id, Line: 2})
		if !ok {
			t.Fatalf("there is no room for %s", id)
		}
		made[id] = rec
	}
	if _, ok := rows.Create(supervise.Record{ID: "long", Command: "make", Task: strings.Repeat("t", 2000)}); ok {
		t.Error("a record is longer than its row")
	}
	made["b"].Remove()
	made["c"].State, made["c"].Reason = supervise.StateWaiting, "for a \"limit\""
	must.OK(t, made["c"].Update())
	list, err := records.List()
	if err != nil || !slices.Equal(idsOf(list), []string{"a", "c"}) {
		t.Fatalf("%v, %v", idsOf(list), err)
	}
	c := list[slices.IndexFunc(list, func(r supervise.Record) bool { return r.ID == "c" })]
	if c.Reason != "for a \"limit\"" || c.Batch != "/w/r.jsonl" || c.Task != "t-c" || c.Line != 2 || c.Owner.PID != os.Getpid() {
		t.Errorf("%+v", c)
	}
	if again, ok := rows.Create(supervise.Record{ID: "d", Command: "make", Started: time.Now(), Attempt: 1}); !ok || again.Remove() != nil {
		t.Error("a row that is free cannot be used again")
	}
	made["a"].Remove()
	made["c"].Remove()
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(records.Dir); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	if _, ok := (*supervise.Rows)(nil).Create(supervise.Record{ID: "e"}); ok {
		t.Error("no rows have room")
	}
}

func init() {
	// rows has runs in rows, one of which has ended, and waits to be killed. Their trees show nothing of where they come from.
	helpers["rows"] = func(args []string) {
		rows, err := supervise.Records{Dir: args[0]}.CreateRows("batch")
		if err != nil {
			panic(err)
		}
		s := supervise.Own()
		start := func(id, script string) {
			rec, _ := rows.Create(supervise.Record{ID: id, Command: "sh", Started: time.Now(), Attempt: 1, Task: "t-" + id})
			s.Run(supervise.Spec{Path: "/bin/sh", RunID: id, Args: []string{"sh", "-c", script}, Dir: args[1]}, nil)
			rec.Remove()
		}
		start("over", `(setsid env -i sleep 300 > /dev/null 2>&1 < /dev/null &)`) // which it may leave
		for _, id := range args[2:] {
			go start(id, `(setsid env -i sleep 300 > /dev/null 2>&1 < /dev/null &); sleep 300; :`)
		}
		time.Sleep(time.Hour)
	}
}

// sleeping is how many processes sleep in a directory.
func sleeping(dir string) (n int) {
	for _, pid := range inside(dir) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(name) == "sleep\n" {
			n++
		}
	}
	return n
}

// What the tasks of a killed owner have started is ended by their marks, and each is told of once, however many look for it. What a task has left that had ended
// by itself is not touched.
func TestRows_OwnerIsKilled(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	one, two := newID(), newID()
	cmd := helper("rows", dir, work, one, two)
	must.OK(t, cmd.Start())
	eventually(t, "the trees stand", func() bool { return sleeping(work) == 5 }) // one of the run that is over, and two each of the others
	cmd.Process.Kill()
	cmd.Wait()
	var mu sync.Mutex
	told := map[string]int{}
	records := supervise.Records{Dir: dir, Killed: func(rec supervise.Record) bool {
		mu.Lock()
		defer mu.Unlock()
		told[rec.ID+" "+rec.Task]++
		return true
	}}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() { records.Reclaim() })
	}
	both.Wait()
	eventually(t, "only what a task has left by itself is there", func() bool {
		records.Reclaim()
		return sleeping(work) == 1
	})
	if want := map[string]int{one + " t-" + one: 1, two + " t-" + two: 1}; fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("told of %v, want %v", told, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	for _, pid := range inside(work) {
		p, _ := os.FindProcess(pid)
		p.Kill()
	}
}
