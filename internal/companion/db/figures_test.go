package db_test

import (
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/companion/db"
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
	defer db.NewFigure("inner_new")()
	w.append(list[2:]...)
	d, _ := w.fold()
	for _, table := range []string{"attempts", "invocations", "sessions", "rollup", "label_rollup WHERE label = 'name'", "meters"} {
		w.expect("5", "SELECT sum(inner_new) FROM "+table)
	}
	for _, by := range []db.Group{db.ByDay, db.ByName} {
		for _, f := range []db.Filter{{}, {Since: t0.Add(time.Second)}} {
			if _, total, err := d.Stats(ctx, f, by, time.UTC); err != nil || total.InnerRetries != 5 {
				t.Errorf("%s since %s: %d, %v", by, f.Since, total.InnerRetries, err)
			}
		}
	}
	if sum, _ := meterSums(t, d); sum.InnerRetries != 5 {
		t.Errorf("meters: %d", sum.InnerRetries)
	}
	named := func(f *db.Figure) bool { return f.Name() == "inner_new" }
	if !slices.ContainsFunc(db.InCSV(db.Figures{}), named) || !slices.ContainsFunc(db.Shown(), named) || !slices.ContainsFunc(db.OnPage(db.Figures{}), named) {
		t.Error("it is not shown")
	}
}
