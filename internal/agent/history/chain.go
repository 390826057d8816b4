package history

// join mends the chain: each message follows one that stays, and a result that is added comes between its call and what followed that.
func (r *Report) join() {
	c := chain{r, map[string]link{"": {whole: true}}}
	behind := map[string]string{} // what comes behind a message now
	for n, l := range r.lines {
		if cut := r.cuts[n]; cut != nil && len(cut.ids) > 0 {
			behind[l.ID] = cut.ids[len(cut.ids)-1]
		}
	}
	last, awaited := "", map[string]bool{} // by a line before
	for n, l := range r.lines {
		if l.ID == "" || r.index[l.ID] != n {
			continue
		}
		to := c.standing(l.Parent)
		awaited[l.Parent] = true
		answers := len(l.Parts) > 0 && l.Parts[0].Kind == Result
		if (!to.whole || l.Parent == "" && last != "" && (answers || l.Role == "assistant")) && !awaited[l.ID] { // else one that follows it would come before it
			r.find(Broken, n)
			if to.id = last; answers && r.calls[l.Parts[0].ID] != nil {
				to = c.standing(r.lines[r.calls[l.Parts[0].ID].line].ID)
			}
		}
		if cut := r.cuts[n]; cut == nil || !cut.drop {
			last = l.ID
		}
		if by, ok := behind[to.id]; ok {
			to.id = by
		}
		if to.id != l.Parent {
			cut := r.cutOf(n)
			cut.parent, cut.joined = to.id, true
		}
	}
}

// chain finds where a line leads to once those that are left out are gone.
type chain struct {
	*Report
	known map[string]link // where each line that is left out leads to
}

// link is the nearest line that stays, of one and those before it; it is not whole if there is none because one is missing.
type link struct {
	id    string
	whole bool
}

func (c *chain) standing(id string) link {
	var passed []string
	to := link{id, true}
	for {
		if known, ok := c.known[to.id]; ok {
			to = known
			break
		}
		n, there := c.index[to.id]
		if !there {
			to = link{}
			break
		}
		if cut := c.cuts[n]; cut == nil || !cut.drop {
			break
		}
		passed = append(passed, to.id)
		c.known[to.id] = link{} // for one that leads back to itself
		to.id = c.lines[n].Parent
	}
	for _, id := range passed {
		c.known[id] = to
	}
	return to
}
