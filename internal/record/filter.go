package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// Filter says which rows are wanted. What is empty does not narrow.
type Filter struct {
	Since, Until time.Time // Since is included, Until is not
	Profile      string
	Class        string // "failed" means every class but ok
	Session      string
	Invocation   string // an id, or its beginning or end
	Limit        int    // the newest; 0 means all

	Name    string            // of runs
	Tags    map[string]string // of which runs have all
	Project string
	Machine string // of a fleet
	Batch   string // the results of the batch that runs are tasks of
	Model   string // that runs have used last
	Gate    string // that runs have gone through
	Text    string // that the id, the command, a label, the task or an error has in it
	// Order is what runs are sorted by, the greatest first, or the least after a "-": a key of [Orders]. Empty means the newest first.
	Order string
}

// Orders are what runs can be sorted by, as SQL.
var Orders = map[string]string{
	"ended": "i.timestamp", "took": "i.response_ms", "waited": "i.wait_ms", "attempts": "i.attempts", "tokens": "i.input_tokens + i.output_tokens", "cost": "i.cost_usd",
}

// order is the order of runs, the last one that is wanted first.
func (f Filter) order() string {
	key, least := strings.CutPrefix(f.Order, "-")
	newest := "i.timestamp DESC, i.id DESC"
	switch by := Orders[key]; {
	case by == "":
		return newest
	case least:
		return by + " IS NULL, " + by + ", " + newest
	default:
		return by + " DESC NULLS LAST, " + newest
	}
}

// Failed is the class that stands for every failure.
const Failed = "failed"

// where builds the conditions of a query.
type where struct {
	parts []string
	args  []any
}

func (w *where) and(part string, args ...any) {
	w.parts = append(w.parts, part)
	w.args = append(w.args, args...)
}

// is narrows by the value of a column, unless it is empty.
func (w *where) is(column, value string) {
	if value != "" {
		w.and(column+" = ?", value)
	}
}

func (w *where) String() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}

// times narrows by a column that holds a time.
func (w *where) times(column string, f Filter) {
	if !f.Since.IsZero() {
		w.and(column+" >= ?", f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		w.and(column+" < ?", f.Until.UnixMilli())
	}
}

// quarters narrows by a column that holds quarters.
func (w *where) quarters(column string, f Filter) {
	if !f.Since.IsZero() {
		w.and(column+" >= ?", floorDiv(f.Since.UnixMilli(), quarter))
	}
	if !f.Until.IsZero() {
		w.and(column+" < ?", -floorDiv(-f.Until.UnixMilli(), quarter))
	}
}

// Group is what statistics are grouped by.
type Group string

const (
	ByDay     Group = "day" // in the zone of the times that were asked for
	ByProfile Group = "profile"
	ByModel   Group = "model"
	ByClass   Group = "class"
	ByName    Group = "name" // a label, as are those that begin with "tag."
	ByProject Group = "project"
	ByMachine Group = "machine" // in the record of a fleet
)

// Groups are all of them but those by a tag.
var Groups = []Group{ByDay, ByProfile, ByModel, ByClass, ByName, ByProject, ByMachine}

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

// tagColumn is the value of one tag of a JSON object. Keys of tags have nothing in them that would need to be escaped.
func tagColumn(column, key string) string { return "json_extract(" + column + `, '$."` + key + `"')` }

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

func narrow(w *where, f Filter, profile, class string) {
	w.is(profile, f.Profile)
	if f.Class == Failed {
		w.and(class + " <> 'ok'")
	} else {
		w.is(class, f.Class)
	}
}

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

// eventLabels narrows events by the labels in their metadata.
func (f Filter) eventLabels(w *where) {
	for _, l := range f.labelList() {
		w.and(Group(l[0]).labelOfEvent()+" = ?", l[1])
	}
}

// labelList is what runs have to be labelled with.
func (f Filter) labelList() [][2]string { return labelList(f.Name, f.Project, f.Machine, f.Tags) }

// labelList are labels with their values, in the order of their names. Names, projects and machines are labels, as tags are: "tag." and the key.
func labelList(name, project, machine string, tags map[string]string) (list [][2]string) {
	for _, l := range [][2]string{{string(ByMachine), machine}, {string(ByName), name}, {string(ByProject), project}} {
		if l[1] != "" {
			list = append(list, l)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, [2]string{tagPrefix + key, tags[key]})
	}
	return list
}

func (f Filter) ofInvocations() *where {
	w := &where{}
	w.times("i.timestamp", f)
	f.labels(w, "i.")
	w.is("i.profile", f.Profile)
	w.is("i.session", f.Session)
	w.is("i.model", f.Model)
	w.is("i.gate", f.Gate)
	if f.Text != "" {
		const in = "instr(lower(concat_ws(char(10), i.id, i.command, i.name, replace(replace(i.tags, '\":\"', '='), '\"', ''), i.project, i.batch, i.task, 'line ' || i.line, i.model)), lower(?)) > 0"
		w.and("("+in+" OR EXISTS (SELECT 1 FROM attempts a WHERE a.invocation = i.id AND instr(lower(a.error), lower(?)) > 0))", f.Text, f.Text)
	}
	switch f.Class {
	case "":
	case string(verdict.OK):
		w.and("i.class = 'ok'")
	case Failed:
		w.and("i.class <> 'ok' AND i.status <> 'retry'")
	default:
		w.and("i.class = ? AND i.class <> 'ok'", f.Class) // as the index has it
	}
	if id := f.Invocation; id != "" {
		w.and("(i.id >= ? AND i.id < ? || x'ff' OR substr(i.id, -length(?)) = ?)", id, id, id, id)
	}
	return w
}

func (f Filter) ofEvents(category string) *where {
	w := &where{}
	w.times("timestamp", f)
	w.is("category", category)
	w.is(ByMachine.labelOfEvent(), f.Machine)
	if f.Profile != "" {
		w.and("? IN (json_extract(metadata, '$.integration'), json_extract(metadata, '$.profile'))", f.Profile)
	}
	if f.Class != Failed {
		w.is("json_extract(metadata, '$.error_type')", f.Class)
	}
	if f.Session != "" {
		w.and("? IN (json_extract(metadata, '$.session_id'), json_extract(metadata, '$.session_key'))", f.Session)
	}
	return w
}
