//go:build unix

package jobs

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// The labels that a task needs are sealed with it. Where they are changed in PostgreSQL, no machine begins the job.
func TestNeeds_Changed(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		needs, labels []string
		change        string
		want          string // empty if it is begun
	}{
		{nil, nil, "{}", ""},
		{[]string{"linux", "gpu", "gpu"}, []string{"gpu", "linux", "more"}, "{gpu,linux}", ""},
		{[]string{"gpu"}, nil, "{}", "needs a machine with the label gpu"},
		{[]string{"gpu"}, []string{"evil"}, "{evil}", "needs a machine with the label gpu"},
		{[]string{"gpu"}, []string{"gpu", "evil"}, "{evil}", "were changed in PostgreSQL"},
		{nil, []string{"evil"}, "{evil}", "were changed in PostgreSQL"},
	} {
		b.sql("delete from belay.job")
		b.tasks = []*fleetpipe.Task{{ID: "a", Hash: "h", Needs: tt.needs, Job: fleetpipe.Job{Args: []string{"true"}}}}
		b.submit(false)
		b.sql("update belay.job set needs = $1::text[]", tt.change)
		b.w.Labels = tt.labels
		if _, err := b.w.job(t.Context(), b.claimed("a")); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v on a machine with %v, changed to %s: %v", tt.needs, tt.labels, tt.change, err)
		}
	}
}

// A job that a Belay has submitted which did not bind it to labels still runs.
func TestJob_OfAnOlderSubmitter(t *testing.T) {
	b := newBench(t)
	b.submit(false, "a")
	sealed := []byte{'1'} // AES-256-GCM with the fleet's key: nonce, text, and who it is for
	nonce := []byte("0123456789ab")
	sealed = append(sealed, nonce...)
	sealed = b.w.Key.aead.Seal(sealed, nonce, []byte(`{"args":["echo","a"],"parts":true,"flags":{"timeout":"1m"},"tags":{"team":"web"}}`), []byte("b\x00a\x00h"))
	b.sql("update belay.job set payload = $1, needs = '{gpu}'", sealed)
	job, err := b.w.job(t.Context(), b.claimed("a"))
	if err != nil || len(job.Args) != 2 || job.Flags["timeout"] != "1m" || job.Tags["team"] != "web" {
		t.Errorf("%+v, %v", job, err)
	}
}

// A job expires by PostgreSQL's clock, as far as it was read and by the time that has passed since then.
func TestJob_Expires(t *testing.T) {
	b := newBench(t)
	b.tasks = []*fleetpipe.Task{{ID: "a", Hash: "h", Expires: time.Hour, Job: fleetpipe.Job{Args: []string{"true"}}}}
	b.submit(false)
	a := b.claimed("a")
	must.OK(t, b.client.Store.Pool.QueryRow(t.Context(), "select now()").Scan(&a.now))
	now := a.now
	synctest.Test(t, func(t *testing.T) { // in the year 2000
		for _, tt := range []struct {
			now    time.Time
			passes time.Duration
			begun  bool
		}{
			{now, 0, true}, {now.Add(-48 * time.Hour), 0, true}, {now, 59 * time.Minute, true}, {now, time.Hour + time.Minute, false}, {now.Add(time.Hour + time.Minute), 0, false},
		} {
			a.now, a.here = tt.now, time.Now()
			time.Sleep(tt.passes)
			if _, err := b.w.job(t.Context(), a); (err == nil) != tt.begun || !tt.begun && !errors.Is(err, errExpired) {
				t.Errorf("taken at %v, %v later: %v", tt.now, tt.passes, err)
			}
		}
	})
}
