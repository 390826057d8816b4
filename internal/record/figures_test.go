package record_test

import (
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/record"
)

// A figure that is declared has its column in every table of a record that is there already, is added up in all of them, and is shown.
func TestFigures_New(t *testing.T) {
	w := newWorld(t)
	list := runs(0, 4)
	for i := range list {
		list[i].InnerRetries, list[i].Name = i, "nightly"
	}
	w.append(list[:2]...)
	w.fold()
	defer record.NewFigure("inner_new")()
	w.append(list[2:]...)
	d, _ := w.fold()
	for _, table := range []string{"attempts", "invocations", "sessions", "rollup", "label_rollup WHERE label = 'name'", "meters"} {
		w.expect("5", "SELECT sum(inner_new) FROM "+table)
	}
	for _, by := range []record.Group{record.ByDay, record.ByName} {
		for _, f := range []record.Filter{{}, {Since: t0.Add(time.Second)}} {
			if _, total, err := d.Stats.Groups(ctx, f, by, time.UTC); err != nil || total.InnerRetries != 5 {
				t.Errorf("%s since %s: %d, %v", by, f.Since, total.InnerRetries, err)
			}
		}
	}
	if sum, _ := meterSums(t, d); sum.InnerRetries != 5 {
		t.Errorf("meters: %d", sum.InnerRetries)
	}
	named := func(f *record.Figure) bool { return f.Name() == "inner_new" }
	if !slices.ContainsFunc(record.InCSV(record.Figures{}), named) || !slices.ContainsFunc(record.Shown(), named) || !slices.ContainsFunc(record.OnPage(record.Figures{}), named) {
		t.Error("it is not shown")
	}
}
