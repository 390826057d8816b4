//go:build linux

package supervise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// A directory is not ours alone: what does not look exactly like a record is not read, nor touched. A record that is
// being written is one.
func TestRecords_ForeignAndTorn(t *testing.T) {
	t.Parallel()
	r := supervise.Records{Dir: t.TempDir()}
	create(t, r, supervise.Record{ID: "whole", Started: time.Now()})
	whole := names(t, r.Dir)[0]
	prefix := strings.TrimSuffix(whole, "whole")
	part := strings.Split(whole, ".")
	foreign := []string{"README", ".", "a.b.c.d", "a.1.2", prefix + "a.b", prefix, "." + whole,
		fmt.Sprintf("%s.+%s.%s.x", part[0], part[1], part[2]), fmt.Sprintf("%s.%s.0%s.x", part[0], part[1], part[2]),
		fmt.Sprintf("%s.-1.%s.x", part[0], part[2]), fmt.Sprintf("%s.0.%s.x", part[0], part[2])}
	write := func(name, text string) {
		if name == "." {
			return
		}
		must.OK(t, os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600))
	}
	for _, name := range foreign {
		write(name, `{"id":"foreign"}`)
	}
	write(prefix+"torn", `{"id":"to`)
	write(prefix+"empty", "")
	write(prefix+"liar", `{"id":"other","command":"x"}`)
	write(whole+".new", `{"id":"who`)
	want := map[string]bool{"whole": true, "torn": true, "empty": true, "liar": true}
	for _, rec := range list(t, r) {
		if !want[rec.ID] || rec.State != supervise.StateRunning || rec.ID == "liar" && rec.Command != "" {
			t.Errorf("%+v", rec)
		}
		delete(want, rec.ID)
	}
	if len(want) != 0 {
		t.Errorf("not listed: %v", want)
	}
	before := len(names(t, r.Dir))
	if ended, err := r.Reclaim(); err != nil || len(ended) != 0 {
		t.Errorf("%v, %v", ended, err)
	}
	if after := len(names(t, r.Dir)); after != before {
		t.Errorf("of %d files %d are left", before, after)
	}
}

func init() {
	helpers["records"] = func(args []string) {
		r := supervise.Records{Dir: args[0]}
		for i := range 50 {
			rec, err := r.Create(supervise.Record{ID: args[1] + "-" + strconv.Itoa(i), Started: time.Now(), Attempt: 1})
			if err == nil {
				rec.Attempt = 2
				err = rec.Update()
			}
			if err == nil {
				_, err = r.Reclaim()
			}
			runs, lerr := r.List()
			mine := false
			for _, run := range runs {
				mine = mine || run.ID == rec.ID && run.Attempt == 2
			}
			if err == nil {
				err = rec.Remove()
			}
			if err != nil || lerr != nil || !mine {
				panic(fmt.Sprint(err, lerr, mine))
			}
		}
	}
}

// No process takes another's record for dead, and none sees half of one.
func TestRecords_ManyProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := helper("records", dir, strconv.Itoa(i)).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}
