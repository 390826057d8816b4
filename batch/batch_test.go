package batch_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/batch"
)

// The tasks come from an iterator, and so do their results.
func ExampleBatch_Run() {
	tasks := func(yield func(batch.Task, error) bool) {
		for _, city := range []string{"Lisbon", "Oslo", "Quito"} {
			if !yield(batch.Task{ID: city, Prompt: "Hello " + city}, nil) {
				return
			}
		}
	}
	b := batch.Batch{Command: []string{"echo", "{}"}, Jobs: 1}
	for res, err := range b.Run(context.Background(), tasks) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(res.Task.ID, ": ", res.Output)
	}
	// Output:
	// Lisbon: Hello Lisbon
	// Oslo: Hello Oslo
	// Quito: Hello Quito
}

// With a file for the results a later Run continues: what is done is not run again, and is not among the results.
func ExampleBatch_results() {
	dir, err := os.MkdirTemp("", "belay-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	b := batch.Batch{Command: []string{"echo", "done:"}, Jobs: 1, Results: filepath.Join(dir, "answers.jsonl")}
	for _, cities := range [][]string{{"Lisbon", "Oslo"}, {"Lisbon", "Oslo", "Quito"}} {
		tasks := func(yield func(batch.Task, error) bool) {
			for _, city := range cities {
				if !yield(batch.Task{ID: city, Args: []string{city}}, nil) {
					return
				}
			}
		}
		for res, err := range b.Run(context.Background(), tasks) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Print(res.Output)
		}
	}
	// Output:
	// done: Lisbon
	// done: Oslo
	// done: Quito
}

// tasksOf are tasks with these ids; one written as b<a depends on a.
func tasksOf(ids ...string) iter.Seq2[batch.Task, error] {
	return func(yield func(batch.Task, error) bool) {
		for _, id := range ids {
			id, on, depends := strings.Cut(id, "<")
			t := batch.Task{ID: id}
			if depends {
				t.DependsOn = []string{on}
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// collect runs a batch to its end.
func collect(ctx context.Context, b *batch.Batch, tasks iter.Seq2[batch.Task, error]) (ids []string, last error) {
	for res, err := range b.Run(ctx, tasks) {
		if err != nil {
			last = err
			continue
		}
		state := "done"
		switch {
		case res.Skipped != "":
			state = "skipped for " + res.Skipped
		case res.Err != nil:
			state = "failed"
		}
		ids = append(ids, res.Task.ID+" "+state)
	}
	slices.Sort(ids)
	return ids, last
}

func TestBatch_ContinuesWhereItWas(t *testing.T) {
	results := filepath.Join(t.TempDir(), "results.jsonl")
	b := batch.Batch{Command: []string{"sh", "-c", `[ $0 != b ]`, "{id}"}, Jobs: 2, Results: results}
	first, err := collect(t.Context(), &b, tasksOf("a", "b", "c<b"))
	if err != nil || strings.Join(first, ", ") != "a done, b failed, c skipped for b" {
		t.Errorf("%v, %v", first, err)
	}
	b.Command, b.RetryFailed = []string{"true", "{id}"}, true
	second, err := collect(t.Context(), &b, tasksOf("a", "b", "c<b", "d"))
	if err != nil || strings.Join(second, ", ") != "b done, c done, d done" {
		t.Errorf("%v, %v", second, err)
	}
	if left, _ := filepath.Glob(results + ".*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestBatch_Errors(t *testing.T) {
	broken := errors.New("no more")
	tasks := func(yield func(batch.Task, error) bool) {
		_ = yield(batch.Task{ID: "a"}, nil) && yield(batch.Task{}, broken)
	}
	b := batch.Batch{Command: []string{"true", "{id}"}, Jobs: 1}
	if done, err := collect(t.Context(), &b, tasks); !errors.Is(err, broken) || len(done) != 1 {
		t.Errorf("%v, %v", done, err)
	}
	if _, err := collect(t.Context(), &b, tasksOf("a", "a")); err == nil || !strings.Contains(err.Error(), "already used") {
		t.Errorf("%v", err)
	}
	b.Results = filepath.Join(t.TempDir(), "no", "such", "file")
	if _, err := collect(t.Context(), &b, tasksOf("a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Who has seen enough ends what runs.
func TestBatch_EndedEarly(t *testing.T) {
	b := batch.Batch{Command: []string{"sh", "-c", `[ $0 = a ] || exec sleep 300`, "{id}"}, Jobs: 3, Runner: belay.Runner{}}
	for res, err := range b.Run(t.Context(), tasksOf("a", "b", "c")) {
		if err != nil || res.Task.ID != "a" {
			t.Errorf("%v, %v", res, err)
		}
		break
	}
}
