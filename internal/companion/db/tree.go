package db

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Node is a run in a tree of runs that were started inside one another.
type Node struct {
	Invocation
	// Depth is how many runs there are around it, and Last says that no other run of the same parent follows.
	Depth int  `json:"depth"`
	Last  bool `json:"-"`
	// Missing says that nothing is on record of it but that others were started in it.
	Missing bool `json:"missing,omitempty"`
	// Total is what it adds up to with all runs inside it.
	Total Total `json:"total"`
}

// Total is what a run and those inside it add up to.
type Total struct {
	Runs     int           `json:"runs"`
	Attempts int           `json:"attempts"`
	Usage    verdict.Usage `json:"usage"` // the cost is what is known of it
	// UnknownCosts is of how many runs the cost, or a part of it, is not known.
	UnknownCosts int `json:"unknown_costs"`
}

func (t *Total) add(u Total) {
	t.Runs += u.Runs
	t.Attempts += u.Attempts
	t.UnknownCosts += u.UnknownCosts
	cost := addCost(t.Usage.CostUSD, u.Usage.CostUSD)
	estimated := t.Usage.Estimated || u.Usage.Estimated
	t.Usage.CostUSD, u.Usage.CostUSD = nil, nil
	t.Usage = t.Usage.Add(u.Usage)
	t.Usage.CostUSD, t.Usage.Estimated = cost, estimated
}

// own is what the run itself adds to the total.
func (n *Node) own() Total {
	t := Total{Runs: 1, Attempts: n.Attempts, Usage: n.Usage}
	if n.Missing || n.Usage.CostUnknown() {
		t.UnknownCosts, t.Usage.Unknown = 1, true
	}
	return t
}

// forest are runs by their ids, and by the run that they were started in.
type forest struct {
	db     *DB
	nodes  map[string]*Node
	inside map[string][]*Node
	live   map[string]Invocation
}

// Tree returns the runs that the filter lets through with all that are around and inside them, each above those that were
// started in it. If the filter names a run, that is where the tree begins. live are runs that have not ended: the record may
// have nothing of them yet.
func (d *DB) Tree(ctx context.Context, f Filter, live []Invocation) ([]Node, error) {
	found, err := d.Invocations(ctx, f)
	if err != nil {
		return nil, err
	}
	t := &forest{db: d, nodes: map[string]*Node{}, inside: map[string][]*Node{}, live: map[string]Invocation{}}
	for _, inv := range live {
		t.live[inv.ID] = inv
	}
	var roots []*Node
	for _, inv := range found {
		t.add(inv)
	}
	if f.Invocation == "" {
		if err := t.climb(ctx); err != nil {
			return nil, err
		}
	}
	if err := t.descend(ctx); err != nil {
		return nil, err
	}
	for _, n := range t.nodes {
		if t.isRoot(n) {
			roots = append(roots, n)
		} else {
			t.inside[n.Parent] = append(t.inside[n.Parent], n)
		}
	}
	return t.list(roots), nil
}

// isRoot says that a tree begins with a run. If runs are inside each other, as only a forged log can say, it is with the first of
// them.
func (t *forest) isRoot(n *Node) bool {
	seen := map[string]bool{}
	least := n.ID
	for at := t.nodes[n.Parent]; at != nil && !seen[at.ID]; at = t.nodes[at.Parent] {
		if at == n {
			return n.ID == least
		}
		seen[at.ID] = true
		least = min(least, at.ID)
	}
	return t.nodes[n.Parent] == nil
}

func (t *forest) add(inv Invocation) *Node {
	n := &Node{Invocation: inv}
	t.nodes[inv.ID] = n
	return n
}

// climb adds the runs around those that are there.
func (t *forest) climb(ctx context.Context) error {
	for {
		var missing []string
		for _, n := range t.nodes {
			if id := n.Parent; id != "" && t.nodes[id] == nil && !slices.Contains(missing, id) {
				missing = append(missing, id)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		found, err := t.db.among(ctx, "i.id", missing)
		if err != nil {
			return err
		}
		for _, inv := range found {
			t.add(inv)
		}
		for _, id := range missing {
			if t.nodes[id] != nil {
				continue
			}
			inv, ok := t.live[id]
			if !ok {
				inv = Invocation{ID: id}
			}
			t.add(inv).Missing = true
		}
	}
}

// descend adds the runs inside those that are there.
func (t *forest) descend(ctx context.Context) error {
	var next []string
	for id := range t.nodes {
		next = append(next, id)
	}
	for len(next) > 0 {
		found, err := t.db.among(ctx, "i.parent", next)
		if err != nil {
			return err
		}
		next = nil
		for _, inv := range found {
			if t.nodes[inv.ID] == nil {
				t.add(inv)
				next = append(next, inv.ID)
			}
		}
	}
	return nil
}

// perQuery is how many ids one query names.
const perQuery = 500

// among returns the invocations in whose column one of the ids stands.
func (d *DB) among(ctx context.Context, column string, ids []string) (list []Invocation, err error) {
	for some := range slices.Chunk(ids, perQuery) {
		args := make([]any, len(some))
		for i := range some {
			args[i] = some[i]
		}
		query := "SELECT " + invocationColumns + " FROM invocations i WHERE " + column + " IN (?" + strings.Repeat(", ?", len(some)-1) + ")"
		found, err := newest(ctx, d, query, args, 0, scanInvocation)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// list puts the trees in order, the one that ended last at the end, and adds them up.
func (t *forest) list(roots []*Node) (list []Node) {
	ends := map[string]time.Time{}
	var sum func(n *Node) time.Time
	sum = func(n *Node) time.Time {
		ended := n.Ended
		n.Total = n.own()
		for _, child := range t.inside[n.ID] {
			if at := sum(child); at.After(ended) {
				ended = at
			}
			n.Total.add(child.Total)
		}
		ends[n.ID] = ended
		return ended
	}
	for _, n := range roots {
		sum(n)
	}
	slices.SortFunc(roots, func(a, b *Node) int {
		return cmp.Or(ends[a.ID].Compare(ends[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	var write func(nodes []*Node, depth int)
	write = func(nodes []*Node, depth int) {
		for i, n := range nodes {
			n.Depth, n.Last = depth, i == len(nodes)-1
			list = append(list, *n)
			inside := t.inside[n.ID]
			slices.SortFunc(inside, func(a, b *Node) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
			write(inside, depth+1)
		}
	}
	write(roots, 0)
	return list
}
