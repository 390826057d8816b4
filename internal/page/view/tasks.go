package view

import (
	"context"
	"net/url"
	"strconv"

	"github.com/belay-run/belay/internal/batch"
)

// Tasks are a batch and its tasks that have ended, a page of them.
type Tasks struct {
	Batch
	Ended []batch.Ended `json:"tasks_ended"`
	// Found is how many there are of the state and the text that were asked for, From how many of them come before.
	Found int `json:"found"`
	From  int `json:"from"`
}

// Tasks returns the tasks of the batch whose results the address has. Only those of batches that Belay has noted are read: a page names no other file.
func (s *Source) Tasks(_ context.Context, q url.Values) (v Tasks, err error) {
	e, err := s.entry(q.Get("results"))
	if err != nil {
		return v, err
	}
	from, _ := strconv.Atoi(q.Get("from")) // anything but a number begins at the first
	v = Tasks{Batch: s.batch(e), From: max(0, from)}
	v.Ended, v.Found, err = batch.ReadTasks(e.Results, batch.Listing{State: q.Get("state"), Text: q.Get("q"), From: v.From, Limit: pageSize})
	v.Ended = append([]batch.Ended{}, v.Ended...)
	return v, err
}
