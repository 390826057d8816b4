package rehearsetest_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/belay-run/belay/rehearsetest"
)

// A program has to come again after a throttle, and not before it may.
func ExampleStart() {
	var t *testing.T // of your test
	service := rehearsetest.Start(t, "429(retry-after=2), 200")
	cmd := exec.Command("./my-script.sh")
	cmd.Env = service.Env
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	requests := service.Requests()
	if n := len(requests); n != 2 {
		t.Fatalf("%d requests, want 2", n)
	}
	if gap := requests[1].Gap; gap < 2*time.Second {
		t.Errorf("it came again after %v", gap)
	}
}
