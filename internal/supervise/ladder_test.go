package supervise_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

func TestForward(t *testing.T) {
	t.Parallel()
	for sig, want := range map[syscall.Signal]supervise.Ladder{
		syscall.SIGINT:  {{Signal: syscall.SIGINT, Wait: 8 * time.Second}, {Signal: syscall.SIGTERM, Wait: 2 * time.Second}},
		syscall.SIGHUP:  {{Signal: syscall.SIGHUP, Wait: 8 * time.Second}, {Signal: syscall.SIGTERM, Wait: 2 * time.Second}},
		syscall.SIGTERM: {{Signal: syscall.SIGTERM, Wait: 10 * time.Second}},
	} {
		got := supervise.Forward(sig)
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", sig, got, want)
		}
		total := time.Duration(0)
		for _, rung := range got {
			total += rung.Wait
		}
		if total > 10*time.Second { // what a container runtime grants
			t.Errorf("%v: it takes %v", sig, total)
		}
	}
}

func TestLadder_Sent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ ladder, want supervise.Ladder }{
		"Nil":   {nil, nil},
		"Empty": {supervise.Ladder{}, nil},
		"Two": {supervise.Ladder{{Signal: syscall.SIGINT, Wait: 3}, {Signal: syscall.SIGTERM, Wait: 4}},
			supervise.Ladder{{Signal: 0, Wait: 3}, {Signal: syscall.SIGTERM, Wait: 4}}},
	} {
		before := slices.Clone(tt.ladder)
		if got := tt.ladder.Sent(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		if !slices.Equal(tt.ladder, before) {
			t.Errorf("%s: the ladder itself has become %v", name, tt.ladder)
		}
	}
}
