//go:build linux

package supervise_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/supervise"
)

func TestOwner_Alive(t *testing.T) {
	t.Parallel()
	me := create(t, supervise.Records{Dir: t.TempDir()}, supervise.Record{ID: "a"}).Owner
	for name, tt := range map[string]struct {
		change func(*supervise.Owner)
		want   bool
	}{
		"Me":             {func(*supervise.Owner) {}, true},
		"PidUsedAgain":   {func(o *supervise.Owner) { o.Start++ }, false},
		"PidUnused":      {func(o *supervise.Owner) { o.PID = 1 << 30 }, false},
		"OtherBoot":      {func(o *supervise.Owner) { o.Boot = "x" }, false},
		"OtherContainer": {func(o *supervise.Owner) { o.Boot += "1" }, false},
	} {
		o := me
		tt.change(&o)
		if got := o.Alive(); got != tt.want {
			t.Errorf("%s: alive is %t", name, got)
		}
		if name != "Me" {
			if err := o.Terminate(); !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
				t.Errorf("%s: terminated: %v", name, err)
			}
		}
	}
}
