//go:build unix

package jobs

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/test/must"
)

// bench is a worker that opens jobs and does not run them, in a fleet with a key.
type bench struct {
	*testBatch
	w *Worker
}

func newBench(t *testing.T) *bench {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	b := &bench{testBatch: newTestBatch(t)}
	key, err := newKey(bytes.Repeat([]byte{7}, keySize), nil)
	must.OK(t, err)
	b.client.Key = key
	b.w = &Worker{Store: b.client.Store, Machine: "bee", Key: key, Dir: filepath.Join(t.TempDir(), "jobs"), Say: func(string) {}, Allow: Allow{Profiles: []string{anyCommand}, Restrict: config.ForJob}}
	b.submitters()
	return b
}

// submitters are those that the worker knows after its next start.
func (b *bench) submitters() *Submitters {
	b.w.submitters = Submitters{Store: b.client.Store, Key: b.w.Key, Path: filepath.Join(filepath.Dir(b.w.Dir), SubmittersFile)}
	return &b.w.submitters
}

// keyFor makes the key of a submitter on another machine, by way of its file.
func (b *bench) keyFor(name string) (key *Key) {
	b.t.Helper()
	owner := &Submitters{Store: b.client.Store, Key: b.w.Key, Path: filepath.Join(b.t.TempDir(), SubmittersFile)}
	path := filepath.Join(b.t.TempDir(), "fleet.key")
	err := owner.Add(b.t.Context(), name, func(k *Key) error { return os.WriteFile(path, []byte(k.Text()), 0o600) })
	if err == nil {
		key, err = ReadKey(path)
	}
	must.OK(b.t, err)
	return key
}

// claimed is the job of a task, as the worker has taken it.
func (b *bench) claimed(task string) *attempt {
	b.t.Helper()
	a := &attempt{key: b.w.Key, claimed: claimed{batch: "b", task: task, hash: "h"}}
	must.OK(b.t, b.client.Store.Pool.QueryRow(b.t.Context(), "select id, attempt, needs, payload from belay.job where task = $1", task).Scan(&a.job, &a.attempt, &a.needs, &a.payload))
	return a
}

// list is the list of submitters in PostgreSQL.
func (b *bench) list() (text string) {
	b.t.Helper()
	must.OK(b.t, b.client.Store.Pool.QueryRow(b.t.Context(), selectSubmitters).Scan(&text))
	return text
}

// A withdrawn key stays withdrawn where its withdrawal was seen, whatever members without the fleet's key write into PostgreSQL.
func TestSubmitters_Withdrawn(t *testing.T) {
	b := newBench(t)
	ann := b.keyFor("ann")
	b.client.Key = ann
	b.submit(false, "a")
	if _, err := b.w.job(t.Context(), b.claimed("a")); err != nil {
		t.Fatal(err)
	}
	before := b.list()
	owner := &Submitters{Store: b.client.Store, Key: b.w.Key, Path: filepath.Join(t.TempDir(), SubmittersFile)}
	must.OK(t, owner.Remove(t.Context(), "ann"))
	refused := func(when string) {
		t.Helper()
		a := b.claimed("a")
		if _, err := b.w.job(t.Context(), a); err == nil || !strings.Contains(err.Error(), "the key of the submitter ann was withdrawn") {
			t.Errorf("%s: %v", when, err)
		}
		if sealed, err := a.key.seal([]byte("why"), "b"); err != nil {
			t.Error(err)
		} else if _, err := ann.open(sealed, "b"); err != nil {
			t.Errorf("%s: ann cannot read why: %v", when, err)
		}
	}
	b.submitters()
	refused("withdrawn")
	if err := ann.check(t.Context(), b.client.Store); !errors.Is(err, ErrKey) && !strings.Contains(err.Error(), "withdrawn") {
		t.Errorf("the submitter is told %v", err)
	}
	forged := strings.Replace(before, `"version":1`, `"version":9`, 1)
	for when, text := range map[string]string{"the old list put back": before, "a forged list": forged, "no list": ""} {
		b.sql("update belay.setting set value = $1 where name = 'submitters'", text)
		b.w.submitters.looked = b.w.submitters.looked.Add(-2 * lookAfter)
		refused(when)
		b.submitters()
		refused(when + ", after a restart")
	}
	b.sql("update belay.setting set value = $1 where name = 'submitters'", before)
	// Who has the fleet's key and has seen the withdrawal builds on that, and a name that is given again has another key.
	if again := b.keyFor("bob"); again.mark == ann.mark {
		t.Error("one key for two submitters")
	}
	if err := b.submitters().Add(t.Context(), "ann", func(again *Key) error {
		if again.mark == ann.mark {
			t.Error("the key that was withdrawn is given again")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	b.submitters()
	refused("the name given again")
	lost := errors.New("lost")
	if err := b.submitters().Add(t.Context(), "carl", func(*Key) error { return lost }); !errors.Is(err, lost) || strings.Contains(b.list(), "carl") {
		t.Errorf("%v, %s", err, b.list())
	}
	for _, name := range []string{"", "a b", "a,b", "-a", "ä", strings.Repeat("a", 41), "a\x1b"} {
		if err := b.submitters().Add(t.Context(), name, func(*Key) error { return nil }); err == nil {
			t.Errorf("%q has a key", name)
		}
	}
}

// The key of a submitter opens what is sealed with it, and nothing else; it can pass nothing off as that of another.
func TestSubmitters_CannotReadOrForge(t *testing.T) {
	b := newBench(t)
	ann, bob := b.keyFor("ann"), b.keyFor("bob")
	keys := map[string]*Key{"fleet": b.w.Key, "ann": ann, "bob": bob}
	for sealer, by := range keys {
		sealed, err := by.seal([]byte("the prompt"), "b", "a", "h")
		if err != nil || bytes.Contains(sealed, []byte("prompt")) {
			t.Fatal(err)
		}
		for opener, key := range keys {
			if _, err := key.open(sealed, "b", "a", "h"); (err == nil) != (opener == sealer) {
				t.Errorf("%s opens what %s has sealed: %v", opener, sealer, err)
			}
		}
	}
	// Bob names ann in what he seals, and a submitter that there is not.
	for _, as := range []*Submitter{ann.submitter, {ID: "00", Name: "eve"}} {
		forger, err := newKey(bob.secret, as)
		must.OK(t, err)
		b.client.Key = forger
		b.submit(false, as.Name)
		if _, err := b.w.job(t.Context(), b.claimed(as.Name)); !errors.Is(err, ErrKey) {
			t.Errorf("a job that was forged as that of %s: %v", as.Name, err)
		}
	}
	// A result that bob has sealed is not taken for that of ann's job, nor for one of the fleet's key.
	for _, key := range []*Key{ann, b.w.Key} {
		b.sql("delete from belay.job")
		d := b.restart()
		d.client.Key = key
		d.submit(false, "a")
		forged, err := bob.seal([]byte(`{"machine":"evil"}`), "b", "a", "h")
		must.OK(t, err)
		b.sql("update belay.job set state = 'over', ended = now(), result = $1", forged)
		d.results(t.Context())
		if said := d.reports(); strings.Contains(said, "evil") || !strings.Contains(said, "cannot read the result") {
			t.Error(said)
		}
	}
	for _, data := range []string{"2", "2\x05a", "2\x01a\x05b", "2\x01a\x01,xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "2\x00\x00xxxxxxxxxxxxxxxxxxxxxxxxxxxx"} {
		if _, err := b.w.Key.keyOf([]byte(data)); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", data, err)
		}
	}
}

// Who has submitted a job is among the tags of its run, and what a job says of that itself is not.
func TestSubmitters_Tag(t *testing.T) {
	fleet, err := newKey(bytes.Repeat([]byte{7}, keySize), nil)
	must.OK(t, err)
	ann, err := fleet.ofSubmitter(&Submitter{ID: "1", Name: "ann"})
	must.OK(t, err)
	many := map[string]string{}
	for i := range 20 {
		many["t"+string(rune('a'+i))] = "x"
	}
	for _, tt := range []struct {
		key        *Key
		tags, want map[string]string
	}{
		{ann, nil, map[string]string{"submitter": "ann"}},
		{ann, map[string]string{"submitter": "bob", "team": "web"}, map[string]string{"submitter": "ann", "team": "web"}},
		{fleet, map[string]string{"submitter": "bob", "team": "web"}, map[string]string{"team": "web"}},
		{nil, map[string]string{"submitter": "bob"}, map[string]string{"submitter": "bob"}},
	} {
		job := &fleetpipe.Job{Tags: tt.tags}
		if tt.key.tag(job); !maps.Equal(job.Tags, tt.want) {
			t.Errorf("%v, not %v", job.Tags, tt.want)
		}
	}
	job := &fleetpipe.Job{Tags: many}
	if ann.tag(job); len(job.Tags) != 20 || job.Tags["submitter"] != "ann" || job.Tags["ta"] != "x" {
		t.Errorf("%v", job.Tags) // with more, belay run would refuse the job
	}
}
