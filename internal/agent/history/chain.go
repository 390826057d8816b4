package history

import "cmp"

// maxGap is how many messages in a row may be left out whose order is not that of the record.
const maxGap = 1000

// join mends the chain: each message follows one that stays, and a result that is added comes between its call and what followed that.
func (r *Report) join() {
	last, awaited := "", map[string]bool{} // by a line before
	for n := range r.lines {
		l := &r.lines[n]
		if l.ID == "" || r.index[l.ID] != n {
			continue
		}
		awaited[l.Parent] = true
		before, whole := r.standing(l.Parent)
		lost := l.Parent == "" && last != "" && (l.Role == "assistant" || len(l.Parts) > 0 && l.Parts[0].Kind == Result)
		if (!whole || lost) && !awaited[l.ID] { // else one that follows it would come before it
			r.find(Broken, n)
			before = last
		}
		if l.drop {
			l.Parent = before // for those that follow it
			continue
		}
		last, l.parent = l.ID, before
		if before != "" {
			l.parent = cmp.Or(r.lines[r.index[before]].added, before)
		}
	}
}

// standing is the nearest message that stays, of one and those before it; whole is false if one of them is missing.
func (r *Report) standing(id string) (stays string, whole bool) {
	for range maxGap {
		n, there := r.index[id]
		if !there {
			return "", id == ""
		}
		if !r.lines[n].drop {
			return id, true
		}
		id = r.lines[n].Parent
	}
	return "", false
}
