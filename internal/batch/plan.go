package batch

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"

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

// String is the state as the results have it.
func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Done:
		return "done"
	case Failed:
		return "failed"
	case Paused:
		return "paused"
	case Skipped:
		return "skipped"
	}
	return "waiting"
}

// Plan is what is kept of all tasks while they run: a million of them take 25 MiB. Texts stay in the source.
type Plan struct {
	source Source
	seed   maphash.Seed
	chunks [][]entry
	states [][]State // of the same tasks; beside each entry it would take eight bytes
	count  int
	index  []uint32 // open addressing by the hash of the id: a number of a task plus 1, 0 for a free place
	// occurrence counts equal tasks without ids, from 1; nil if there are none. last is the newest of those that have an equal.
	occurrence []uint32
	last       map[uint32]uint32

	depends map[uint32][]uint32 // the tasks that a task waits for

	// streamed says that tasks are added as they are read, and past is what the results say of tasks, by the hash of their ids.
	streamed bool
	past     map[uint64]pastTask
}

// Stream is a plan of tasks that can be read only once, and are checked as they come: one may depend on those before it.
func Stream(source Source) *Plan {
	return &Plan{source: source, seed: maphash.MakeSeed(), index: make([]uint32, 1<<10), depends: map[uint32][]uint32{}, past: map[uint64]pastTask{}, streamed: true}
}

// take takes a task into a plan that is streamed.
func (p *Plan) take(t *Task) (n uint32, err error) {
	if err := p.add(t); err != nil {
		return 0, p.mistake(t, err)
	}
	n = uint32(p.count - 1)
	for _, id := range t.DependsOn {
		on, ok := p.find(id)
		if !ok || on == n {
			return 0, p.mistake(t, errors.New(message.BatchUnknownDependency(t.ID, id)))
		}
		p.depends[n] = append(p.depends[n], on)
	}
	if e := p.entry(n); p.past[e.id].hash == e.hash {
		*p.state(n) = p.past[e.id].state
	}
	return n, nil
}

// entry is what is kept of one task.
type entry struct {
	id   uint64 // the hash of its id
	hash Hash
}

// pastTask is what the results say of a task.
type pastTask struct {
	hash  Hash
	state State
}

// chunkSize is how many entries are allocated at a time: a slice that grows is there twice while it does.
const chunkSize = 1 << 14

// Check reads all tasks once and finds what is wrong with them before anything starts: a broken line, an id that is there twice, a task that
// depends on itself, and what each says of the task. The error is a [*Mistake], or one of reading.
func Check(source Source, each func(*Task) error) (*Plan, error) {
	p := &Plan{source: source, seed: maphash.MakeSeed(), index: make([]uint32, 1<<10)}
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
			pending[uint32(p.count-1)] = dependent{line: t.Line, id: t.ID, on: t.DependsOn}
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
func (p *Plan) Len() int { return p.count }

func (p *Plan) entry(n uint32) *entry { return &p.chunks[n/chunkSize][n%chunkSize] }
func (p *Plan) state(n uint32) *State { return &p.states[n/chunkSize][n%chunkSize] }

// add takes a task into the plan and names one that has no name.
func (p *Plan) add(t *Task) error {
	hash, n := t.Hash(), uint32(p.count)
	if t.ID == "" {
		p.name(t, hash, n)
	} else if _, taken := p.find(t.ID); taken {
		return fmt.Errorf("id %q is already used by another task", t.ID)
	}
	if p.count%chunkSize == 0 {
		p.chunks, p.states = append(p.chunks, make([]entry, chunkSize)), append(p.states, make([]State, chunkSize))
	}
	p.count++
	*p.entry(n) = entry{id: maphash.String(p.seed, t.ID), hash: hash}
	if p.occurrence != nil && len(p.occurrence) < p.count {
		p.occurrence = append(p.occurrence, 1)
	}
	if p.count*4 > len(p.index)*3 {
		p.grow()
	} else {
		p.place(n)
	}
	return nil
}

// name gives a task an id that is made of what it says, and counts those that say the same.
func (p *Plan) name(t *Task, hash Hash, n uint32) {
	first, again := p.find(ownID(hash, 1))
	if !again {
		t.ID = ownID(hash, 1)
		return
	}
	if p.occurrence == nil {
		p.occurrence, p.last = make([]uint32, p.count, p.count+chunkSize), map[uint32]uint32{}
		for i := range p.occurrence {
			p.occurrence[i] = 1
		}
	}
	p.last[first] = max(p.last[first], 1) + 1
	p.occurrence = append(p.occurrence, p.last[first])
	t.ID = ownID(hash, p.last[first])
}

// place puts a task into the index.
func (p *Plan) place(n uint32) {
	mask := uint64(len(p.index) - 1)
	for at := p.entry(n).id & mask; ; at = (at + 1) & mask {
		if p.index[at] == 0 {
			p.index[at] = n + 1
			return
		}
	}
}

func (p *Plan) grow() {
	p.index = make([]uint32, 2*len(p.index))
	for n := range uint32(p.count) {
		p.place(n)
	}
}

// find is the number of the task of that name.
func (p *Plan) find(id string) (uint32, bool) {
	h := maphash.String(p.seed, id)
	mask := uint64(len(p.index) - 1)
	for at := h & mask; p.index[at] != 0; at = (at + 1) & mask {
		if n := p.index[at] - 1; p.entry(n).id == h {
			return n, true
		}
	}
	return 0, false
}

// idOf is the id of a task that was read again.
func (p *Plan) idOf(t *Task, n uint32) string {
	if t.ID != "" {
		return t.ID
	}
	occurrence := uint32(1)
	if int(n) < len(p.occurrence) {
		occurrence = p.occurrence[n]
	}
	return ownID(p.entry(n).hash, occurrence)
}

// resolve finds the tasks that others depend on, and a circle among them.
func (p *Plan) resolve(pending map[uint32]dependent) error {
	if len(pending) == 0 {
		return nil
	}
	p.depends = make(map[uint32][]uint32, len(pending))
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
	for n := range uint32(p.count) {
		if *p.state(n) == s {
			*p.state(n) = Waiting
		}
	}
}

// Count says how many tasks are in each state.
func (p *Plan) Count() (counts [6]int) {
	for n := range uint32(p.count) {
		counts[*p.state(n)]++
	}
	return counts
}
