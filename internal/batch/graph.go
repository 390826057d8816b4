package batch

// graph is which tasks wait for others. Those that do are kept in memory.
type graph struct {
	plan    *Plan
	waiting map[uint32][]*Job // by what they wait for
	unmet   map[int]int       // how many others a task still waits for, by its index
}

// ready reports whether a job may start. If it may not, it is kept until over says so. failed is the id of one that it
// depends on and that will never be done; empty if there is none.
func (g *graph) ready(job *Job) (ready bool, failed string) {
	unmet := 0
	for i, on := range g.plan.depends[uint32(job.Index)] {
		switch *g.plan.state(on) {
		case Done:
		case Failed, Skipped:
			return false, job.Task.DependsOn[i]
		default:
			unmet++
		}
	}
	if unmet == 0 {
		return true, ""
	}
	if g.waiting == nil {
		g.waiting, g.unmet = map[uint32][]*Job{}, map[int]int{}
	}
	g.unmet[job.Index] = unmet
	for _, on := range g.plan.depends[uint32(job.Index)] {
		if *g.plan.state(on) != Done {
			g.waiting[on] = append(g.waiting[on], job)
		}
	}
	return false, ""
}

// over says that a task is done, or never will be, and returns the jobs that may start now and those that never may.
func (g *graph) over(n uint32, done bool) (ready, skipped []*Job) {
	if len(g.waiting) == 0 {
		return nil, nil
	}
	for _, job := range g.waiting[n] {
		if _, waits := g.unmet[job.Index]; !waits {
			continue // another one that it depends on has failed before
		}
		if !done {
			delete(g.unmet, job.Index)
			skipped = append(skipped, job)
			continue
		}
		if g.unmet[job.Index]--; g.unmet[job.Index] == 0 {
			delete(g.unmet, job.Index)
			ready = append(ready, job)
		}
	}
	delete(g.waiting, n)
	return ready, skipped
}
