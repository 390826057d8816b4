package record

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/record/database"
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
	nodes  map[string]*Node
	inside map[string][]*Node
}

// around are the runs around seeds too, also through those that have not ended: the record may have nothing of these yet.
const around = `
	UNION SELECT i.parent FROM invocations i JOIN up ON i.id = up.id WHERE i.parent IS NOT NULL
	UNION SELECT live.parent FROM live JOIN up ON live.id = up.id WHERE live.parent IS NOT NULL`

// Tree returns the runs that the filter lets through with all that are around and inside them, each above those that were
// started in it. If the filter names a run, that is where the tree begins. live are runs that have not ended: the record may
// have nothing of them yet.
func (r Runs) Tree(ctx context.Context, f Filter, live []Invocation) ([]Node, error) {
	known, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	up := around
	if f.Invocation != "" {
		up = ""
	}
	w := f.ofInvocations()
	query := `WITH RECURSIVE live(id, parent) AS (SELECT value ->> 'id', value ->> 'parent' FROM json_each(?)),
	seeds(id) AS (SELECT i.id FROM invocations i` + w.String() + ` ORDER BY i.timestamp DESC, i.id DESC LIMIT ?),
	up(id) AS (SELECT id FROM seeds` + up + `),
	tree(id) AS (SELECT id FROM up UNION SELECT i.id FROM invocations i JOIN tree ON i.parent = tree.id)
	SELECT ` + invocationColumns + ` FROM invocations i WHERE i.id IN (SELECT id FROM tree)`
	limit := f.Limit
	if limit == 0 {
		limit = -1
	}
	found, err := database.Newest(ctx, r.db, query, slices.Concat([]any{string(known)}, w.args, []any{limit}), 0, scanInvocation)
	if err != nil {
		return nil, err
	}
	t := &forest{nodes: map[string]*Node{}, inside: map[string][]*Node{}}
	for _, inv := range found {
		t.nodes[inv.ID] = &Node{Invocation: inv}
	}
	if f.Invocation == "" {
		t.addMissing(live)
	}
	var roots []*Node
	for _, n := range t.nodes {
		if t.isRoot(n) {
			roots = append(roots, n)
		} else {
			t.inside[n.Parent] = append(t.inside[n.Parent], n)
		}
	}
	return t.list(roots), nil
}

// addMissing adds the runs that others were started in and that are not on record.
func (t *forest) addMissing(live []Invocation) {
	for _, n := range slices.Collect(maps.Values(t.nodes)) {
		for n.Parent != "" && t.nodes[n.Parent] == nil {
			above := &Node{Invocation: Invocation{ID: n.Parent}, Missing: true}
			if i := slices.IndexFunc(live, func(inv Invocation) bool { return inv.ID == n.Parent }); i >= 0 {
				above.Invocation = live[i]
			}
			t.nodes[n.Parent] = above
			n = above
		}
	}
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
