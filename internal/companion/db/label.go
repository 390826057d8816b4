package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
)

// labelled says that the filter asks for labels, which only rows have.
func (f Filter) labelled() bool {
	return len(f.labelList()) > 0 || f.Batch != ""
}

// labels narrows by the columns of labels, which have that prefix.
func (f Filter) labels(w *where, prefix string) {
	for _, l := range f.labelList() {
		w.and(Group(l[0]).label(prefix)+" = ?", l[1])
	}
	w.is(prefix+"batch", f.Batch)
}

// tagColumn is the value of one tag of a JSON object. Keys of tags have nothing in them that would need to be escaped.
func tagColumn(column, key string) string { return "json_extract(" + column + `, '$."` + key + `"')` }

// tagPrefix is how a group of statistics begins that is a tag.
const tagPrefix = "tag."

// ParseGroup reads what statistics are to be grouped by.
func ParseGroup(text string) (Group, error) {
	if key, ok := strings.CutPrefix(text, tagPrefix); ok {
		if !label.IsKey(key) {
			return "", message.Error(fmt.Sprintf("%.60q is not the key of a tag. Write it like this: tag.team", key))
		}
		return Group(text), nil
	}
	if !slices.Contains(Groups, Group(text)) {
		return "", message.Error(fmt.Sprintf("%.60q is not day, profile, model, class, name, project, machine or tag.KEY", text))
	}
	return Group(text), nil
}

// label is what a run is grouped by, as SQL over the columns of a table with that prefix; empty for a group that is no label.
func (g Group) label(prefix string) string {
	if key, ok := strings.CutPrefix(string(g), tagPrefix); ok {
		return tagColumn(prefix+"tags", key)
	}
	if g == ByName || g == ByProject || g == ByMachine {
		return prefix + string(g)
	}
	return ""
}

// labelOfEvent is the same for the metadata of an event.
func (g Group) labelOfEvent() string {
	if key, ok := strings.CutPrefix(string(g), tagPrefix); ok {
		return `json_extract(metadata, '$.tags."` + key + `"')`
	}
	return "json_extract(metadata, '$." + string(g) + "')"
}

// tallyLabels adds up by a label. The rollup has none, so it is all rows of the time that are added up.
func (d *DB) tallyLabels(ctx context.Context, f Filter, by Group, add tallied) error {
	w := &where{}
	w.times("a.timestamp", f)
	f.labels(w, "i.")
	narrow(w, f, "coalesce(a.profile, i.profile)", "a.class")
	query := "SELECT max(a.timestamp), coalesce(" + by.label("i.") + ", ''), '', ''" + kept(inRollups).rowSums() +
		" FROM attempts a JOIN invocations i ON i.id = a.invocation" + w.String() + " GROUP BY 2"
	if err := d.tally(ctx, query, w.args, kept(inRollups), add); err != nil {
		return err
	}
	w = &where{}
	w.times("timestamp", f)
	w.and(faulty)
	f.eventLabels(w)
	narrow(w, f, "json_extract(metadata, '$.integration')", "json_extract(metadata, '$.error_type')")
	query = "SELECT max(timestamp), coalesce(" + by.labelOfEvent() + ", ''), '', '', count(*) FROM events" + w.String() + " GROUP BY 2"
	return d.tally(ctx, query, w.args, onlyFaults(), add)
}

// eventLabels narrows events by the labels in their metadata.
func (f Filter) eventLabels(w *where) {
	for _, l := range f.labelList() {
		w.and(Group(l[0]).labelOfEvent()+" = ?", l[1])
	}
}
