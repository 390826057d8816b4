package fleetpipe_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// A job arrives as it was, whatever bytes its user has put into it. One that is text is written as a worker of an older version reads it; one that is not is refused by it, not changed.
func TestJob_AnyBytes(t *testing.T) {
	text, raw := "é \" \\ \u2028", "caf\xe9"
	for name, job := range map[string]fleetpipe.Job{
		"nothing": {Args: []string{"true"}},
		"text":    {Args: []string{"sh", text}, Prompt: &text, Dir: "/srv", Env: map[string]string{"A": text}, Files: &fleetpipe.Files{Archive: "x"}, Flags: map[string]string{"max-retries": "3"}, Parts: true},
		"bytes":   {Args: []string{"sh", raw, ""}, Prompt: &raw, Dir: "/srv/" + raw, Env: map[string]string{"A": raw}, Tags: map[string]string{"a": "b"}, Conceal: []string{raw}},
	} {
		data, err := json.Marshal(fleetpipe.Order{Task: &fleetpipe.Task{ID: "a", Job: job}})
		must.OK(t, err)
		var got fleetpipe.Order
		if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got.Task.Job, job) {
			t.Errorf("%s: %v\n%+v\n%+v", name, err, got.Task.Job, job)
		}
		var older struct {
			Task struct{ Job struct{ Args []string } }
		}
		if err := json.Unmarshal(data, &older); (err == nil) != (name != "bytes") || err == nil && !reflect.DeepEqual(older.Task.Job.Args, job.Args) {
			t.Errorf("%s, for an older version: %v, %q", name, err, older.Task.Job.Args)
		}
	}
}
