package batch

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/belay-run/belay/internal/safefile"
)

// Status is how a batch stands, for those who look at it from elsewhere.
type Status struct {
	// Holder is the process that runs it; nil if none does.
	Holder *Holder `json:"holder"`
	Progress
	Failures []Failure `json:"failures"`
}

// Failure is what tasks have failed with.
type Failure struct {
	Class string `json:"error_type"`
	Count int    `json:"tasks"`
	Task  string `json:"first"`
	Line  int    `json:"line,omitempty"` // of that task, if its file gives it no id
	Error string `json:"error"`
}

// ReadStatus finds out how the batch of these results stands.
func ReadStatus(path string) (*Status, error) {
	st := &Status{Failures: []Failure{}}
	ended, err := readEnded(path)
	if err != nil {
		return nil, err
	}
	notes, live := readLive(path + journalSuffix)
	if live {
		st.Holder = &notes.holder
	}
	if notes.progress != nil {
		json.Unmarshal(notes.progress, &st.Progress)
	}
	told := st.Cost // with what machines of a fleet have said of running tasks
	if !live {
		told = 0
		st.Tasks, st.Left, st.Running, st.Paused, st.Jobs = nil, 0, 0, 0, 0
	}
	st.Done, st.Failed, st.Skipped, st.Cost = 0, 0, 0, ended.cost
	for _, e := range ended.last {
		switch e.state {
		case Done:
			st.Done++
		case Failed:
			st.Failed++
		case Skipped:
			st.Skipped++
		}
	}
	over := st.Done + st.Failed + st.Skipped
	st.Total = max(st.Total, over+st.Running+st.Paused)
	st.Waiting = max(0, st.Total-over-st.Running-st.Paused)
	for id, was := range notes.underWay {
		if e, ok := ended.last[id]; !ok || e.offset < was.offset {
			st.Cost += was.paid
		}
	}
	st.Cost = max(st.Cost, told)
	st.Failures = ended.failures()
	return st, nil
}

// Failures counts what tasks of the plan have failed with, in this run or in one before.
func (b *Batch) Failures() []Failure {
	ended, err := readEnded(b.Ledger.path)
	if err != nil {
		return nil
	}
	maps.DeleteFunc(ended.last, func(id string, p place) bool {
		n, ok := b.Plan.find(id)
		return !ok || b.Plan.tasks[n].hash != p.hash
	})
	return ended.failures()
}

// Journal is the file beside these results that is there while their batch runs, or is not finished.
func Journal(results string) string { return results + journalSuffix }

// IsRunning reports whether a process runs the batch of these results.
func IsRunning(results string) bool { return isLocked(results + journalSuffix) }

// ended is what the results say: the last line of each task.
type ended struct {
	path string
	last map[string]place
	cost float64
}

// place is where the result of a task is.
type place struct {
	hash         Hash
	state        State
	index        int
	offset, size int64
}

// readEnded reads where the last result of each task is.
func readEnded(path string) (*ended, error) {
	e := &ended{path: path, last: map[string]place{}}
	if isNull(path) {
		return e, nil
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, _, err = scan(f, func(offset int64, line []byte, r parsed) {
		e.last[r.task] = place{r.hash, r.state, r.index, offset, int64(len(line))}
		e.cost += r.cost
	})
	return e, err
}

// inOrder are the places in the order of the tasks.
func (e *ended) inOrder(want func(place) bool) (list []place) {
	for _, p := range e.last {
		if want(p) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b place) int { return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.offset, b.offset)) })
	return list
}

// failures counts what tasks have failed with.
func (e *ended) failures() []Failure {
	list := []Failure{}
	f, err := safefile.OpenRegular(e.path)
	if err != nil {
		return list
	}
	defer f.Close()
	for _, p := range e.inOrder(func(p place) bool { return p.state == Failed }) {
		r := readTask(f, p)
		i := slices.IndexFunc(list, func(f Failure) bool { return f.Class == r.Class })
		if i < 0 {
			i = len(list)
			list = append(list, Failure{Class: r.Class, Task: r.Task, Line: r.Line, Error: r.Error})
		}
		list[i].Count++
	}
	slices.SortStableFunc(list, func(a, b Failure) int { return b.Count - a.Count })
	return list
}

// WriteResults writes the last result of each task as it is, in the order of the tasks.
func WriteResults(path string, failed bool, w io.Writer) error {
	e, err := readEnded(path)
	if err != nil || len(e.last) == 0 {
		return err
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(w, 64<<10)
	for _, p := range e.inOrder(func(p place) bool { return !failed || p.state == Failed }) {
		if _, err := io.Copy(out, io.NewSectionReader(f, p.offset, p.size)); err != nil {
			return err
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}
