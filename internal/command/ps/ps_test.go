//go:build unix

package ps_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/commandtest"
)

// A run under way is shown, waits are shown with their reason, and cancel asks its owner to stop it, as SIGTERM does.
func TestPs_AndCancel(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "ps").Ends(0).Says().Prints("nothing is running\n")
	commandtest.Belay(t, "ps", "--json").Ends(0).Says().Prints()
	commandtest.Belay(t, "ps", "--reap").Ends(0).Says().Prints("nothing was left running\n")

	// The owner of the run is this process, so this process is what is asked.
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	wait := commandtest.Begun(t, ctx, "run", "--stream", "--scope", "one", "--", "sh", "-c", "echo ready; sleep 60")
	commandtest.Belay(t, "ps").Ends(0).Says().Prints("ID", "STATE", "sh", "running")
	var run struct {
		ID    string `json:"id"`
		PID   int    `json:"pid"`
		State string `json:"state"`
	}
	if got := commandtest.Belay(t, "ps", "--json").Ends(0); json.Unmarshal([]byte(got.Stdout), &run) != nil || run.PID != os.Getpid() || run.ID == "" {
		t.Fatalf("%s", got.Stdout)
	}
	commandtest.Belay(t, "run", "--scope", "one", "--on-busy", "fail", "--", "true").Ends(75).Says("one")
	commandtest.Belay(t, "__complete", "cancel", "").Ends(0).Prints(run.ID[len(run.ID)-8:] + "\tsh")
	commandtest.Belay(t, "cancel", "nonsense").Ends(2).Says(`no run has the id "nonsense"`)

	commandtest.Belay(t, "cancel", run.ID[len(run.ID)-8:]).Ends(0).Says().Prints(fmt.Sprintf("asked %s (sh) to stop\n", run.ID[len(run.ID)-8:]))
	wait().Ends(143)
	commandtest.Belay(t, "ps").Ends(0).Prints("nothing is running\n")
}

// One that waits at a gate is listed there, and by ps with what it waits for.
func TestPs_Waiting(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "gates", "hold", "api", "--until", "1h", "--reason", "maintenance").Ends(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	over := make(chan int, 1)
	go func() {
		over <- belay.Run(ctx, []string{"run", "--gate", "api", "--max-wait", "2h", "--", "true"}, nil, io.Discard, w)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	if !lines.Scan() || !strings.Contains(lines.Text(), "gate api is on hold until ") || !strings.Contains(lines.Text(), "; waiting. To lift it: belay gates reset api") {
		t.Fatalf("%q", lines.Text())
	}
	go io.Copy(io.Discard, r)
	commandtest.Belay(t, "ps").Ends(0).Prints("waiting ", ", until ", "gate api: ", "maintenance")
	if got := commandtest.Belay(t, "gates", "--json").Ends(0); !strings.Contains(got.Stdout, `"command":"true"`) {
		t.Errorf("nobody waits: %s", got.Stdout)
	}
	cancel()
	if code := <-over; code != 143 {
		t.Errorf("exit code %d", code)
	}
}
