package batch

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"

	"github.com/belay-run/belay/internal/batch/tasks"
	"github.com/belay-run/belay/internal/message"
)

// State is what has become of a task.
type State uint8

const (
	Waiting State = iota
	Running
	Done
	Failed
	Paused  // it waits for a limit; nothing of it is lost
	Skipped // it depends on one that has failed
)

// states are the names of the states in the results.
var states = []string{"waiting", "running", "done", "failed", "paused", "skipped"}

// String is the state as the results have it.
func (s State) String() string { return states[s] }

// Plan is what is kept of all tasks while they run. Texts stay in the source: a million tasks take 50 MiB.
type Plan struct {
	// Command is the fingerprint of the command that all tasks have; 0 if it is not known. Results say of which command they are.
	Command Hash

	source Source
	tasks  []entry
	byID   map[uint64]uint32 // by the hash of the id: texts would take as much again, and time of the garbage collector
	seed   maphash.Seed
	// copies counts tasks that equal one without an id, by that one's number, and occurrence says for each of them which it is, from 2.
	copies, occurrence map[uint32]uint32

	depends map[uint32][]uint32 // the tasks that a task waits for

	// streamed says that tasks are added as they are read, and past is what the results say of tasks, by id.
	streamed bool
	past     map[string]entry
}

// entry is what is kept of one task.
type entry struct {
	hash  Hash
	state State
	// other says that the result is one of another command.
	other bool
}

func newPlan(source Source) *Plan {
	return &Plan{source: source, byID: map[uint64]uint32{}, seed: maphash.MakeSeed(), copies: map[uint32]uint32{}, occurrence: map[uint32]uint32{}, depends: map[uint32][]uint32{}}
}

// Stream is a plan of tasks that can be read only once, and are checked as they come: one may depend on those before it.
func Stream(source Source) *Plan {
	p := newPlan(source)
	p.streamed, p.past = true, map[string]entry{}
	return p
}

// take takes a task into a plan that is streamed.
func (p *Plan) take(t *Task) (n uint32, err error) {
	if err := p.add(t); err != nil {
		return 0, p.mistake(t, err)
	}
	n = uint32(p.Len() - 1)
	for _, id := range t.DependsOn {
		on, ok := p.find(id)
		if !ok || on == n {
			return 0, p.mistake(t, errors.New(message.BatchUnknownDependency(t.ID, id)))
		}
		p.depends[n] = append(p.depends[n], on)
	}
	if was := p.past[t.ID]; was.hash == p.tasks[n].hash {
		p.tasks[n].state = was.state
	}
	return n, nil
}

// Check reads all tasks once and finds what is wrong with them before anything starts: a broken line, an id that is there twice, a task that
// depends on itself, and what each says of the task. The error is a [*Mistake], or one of reading.
func Check(source Source, each func(*Task) error) (*Plan, error) {
	p := newPlan(source)
	r, err := source.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	pending := map[uint32]dependent{}
	for {
		t, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := p.add(&t); err != nil {
			return nil, p.mistake(&t, err)
		}
		if each != nil {
			if err := each(&t); err != nil {
				return nil, p.mistake(&t, err)
			}
		}
		if len(t.DependsOn) > 0 {
			pending[uint32(p.Len()-1)] = dependent{line: t.Line, id: t.ID, on: t.DependsOn}
		}
	}
	return p, p.resolve(pending)
}

// dependent is a task that waits for others, which may come after it.
type dependent struct {
	line int
	id   string
	on   []string
}

func (p *Plan) mistake(t *Task, err error) error {
	if m, ok := errors.AsType[*Mistake](err); ok {
		return m
	}
	if t.Line == 0 && t.File != "" {
		return &Mistake{Path: t.File, Err: err}
	}
	return &Mistake{Path: p.source.Name(), Line: t.Line, Err: err}
}

// Len is the number of tasks.
func (p *Plan) Len() int { return len(p.tasks) }

// state is the state of a task, to read or to change. It must not be kept while tasks are added.
func (p *Plan) state(n uint32) *State { return &p.tasks[n].state }

// add takes a task into the plan and names one that has no name.
func (p *Plan) add(t *Task) error {
	hash, n := t.Hash(), uint32(p.Len())
	if t.ID == "" {
		t.ID = tasks.OwnID(hash, 1)
		if first, again := p.find(t.ID); again {
			p.copies[first]++
			p.occurrence[n] = p.copies[first] + 1
			t.ID = tasks.OwnID(hash, p.occurrence[n])
		}
	} else if _, taken := p.find(t.ID); taken {
		return fmt.Errorf("id %q is already used by another task", t.ID)
	}
	p.byID[maphash.String(p.seed, t.ID)] = n
	p.tasks = append(p.tasks, entry{hash: hash})
	return nil
}

// find is the number of the task of that name.
func (p *Plan) find(id string) (uint32, bool) {
	n, ok := p.byID[maphash.String(p.seed, id)]
	return n, ok
}

// idOf is the id of a task that was read again.
func (p *Plan) idOf(t *Task, n uint32) string {
	if t.ID != "" {
		return t.ID
	}
	return tasks.OwnID(p.tasks[n].hash, max(p.occurrence[n], 1))
}

// resolve finds the tasks that others depend on, and a circle among them.
func (p *Plan) resolve(pending map[uint32]dependent) error {
	for _, n := range slices.Sorted(maps.Keys(pending)) { // the same mistake is found every time
		d := pending[n]
		for _, id := range d.on {
			on, ok := p.find(id)
			if !ok {
				return &Mistake{Path: p.source.Name(), Line: d.line, Err: errors.New(message.BatchUnknownDependency(d.id, id))}
			}
			p.depends[n] = append(p.depends[n], on)
		}
	}
	if circle := p.circle(); len(circle) > 0 {
		ids := make([]string, len(circle))
		for i, n := range circle {
			ids[i] = pending[n].id
		}
		return &Mistake{Path: p.source.Name(), Line: pending[circle[0]].line, Err: errors.New(message.BatchCycle(ids))}
	}
	return nil
}

// circle finds a task that depends on itself, and those between. It walks without recursion: a chain may have a million links.
func (p *Plan) circle() []uint32 {
	const open, closed = 1, 2
	seen := make(map[uint32]uint8, len(p.depends))
	type step struct {
		task uint32
		next int
	}
	for _, root := range slices.Sorted(maps.Keys(p.depends)) {
		if seen[root] != 0 {
			continue
		}
		path := []step{{task: root}}
		seen[root] = open
		for len(path) > 0 {
			top := &path[len(path)-1]
			on := p.depends[top.task]
			if top.next == len(on) {
				seen[top.task] = closed
				path = path[:len(path)-1]
				continue
			}
			to := on[top.next]
			top.next++
			switch {
			case seen[to] == open:
				var circle []uint32
				for _, s := range path[slices.IndexFunc(path, func(s step) bool { return s.task == to }):] {
					circle = append(circle, s.task)
				}
				return circle
			case seen[to] == 0 && len(p.depends[to]) > 0:
				seen[to] = open
				path = append(path, step{task: to})
			}
		}
	}
	return nil
}

// reset lets tasks in a state run again, before any of them is looked at: others may depend on them.
func (p *Plan) reset(s State) {
	for n := range p.tasks {
		if p.tasks[n].state == s {
			p.tasks[n].state = Waiting
		}
	}
}

// OfOther says how many results that count are of another command.
func (p *Plan) OfOther() (n int) {
	for _, t := range p.tasks {
		if t.other && t.state != Waiting {
			n++
		}
	}
	return n
}

// ResetOther lets tasks run again whose results are of another command.
func (p *Plan) ResetOther() {
	for n, t := range p.tasks {
		if t.other {
			p.tasks[n].state = Waiting
		}
	}
}

// Count says how many tasks are in each state.
func (p *Plan) Count() (counts [6]int) {
	for _, t := range p.tasks {
		counts[t.state]++
	}
	return counts
}

// unfinished calls a function for each task that would run, failed ones too if they are run again, with its number and its state.
func (p *Plan) unfinished(retryFailed bool, each func(*Task, uint32, State) error) error {
	r, err := p.source.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	for n := range uint32(p.Len()) {
		t, err := r.Next()
		if err != nil {
			return err
		}
		s := *p.state(n)
		if s == Done || s == Failed && !retryFailed {
			continue
		}
		t.ID = p.idOf(&t, n)
		if err := each(&t, n, s); err != nil {
			return err
		}
	}
	return nil
}

// idsOf are the ids of the first few of these tasks, as far as the tasks can be read again.
func (p *Plan) idsOf(tasks []uint32) (ids []string) {
	const few = 10
	if p.streamed {
		return nil
	}
	p.unfinished(true, func(t *Task, n uint32, _ State) error {
		if slices.Contains(tasks[:min(few, len(tasks))], n) {
			ids = append(ids, t.ID)
		}
		return nil
	})
	return ids
}

// broken is the reason to stop that the tasks cannot be read as they were.
func (p *Plan) broken(err error) stop {
	if errors.Is(err, io.EOF) {
		err = errors.New(message.BatchTasksChanged(p.source.Name()))
	}
	return stop{reason: SourceBroken, err: err}
}
