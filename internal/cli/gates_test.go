//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/cli"
)

// A gate is held, shown, waited at, opened and reset, and each change by hand is on record.
func TestGates(t *testing.T) {
	place(t)
	belay(t, "gates").ends(0).says().prints("all gates are healthy")
	belay(t, "gates", "--json").ends(0).says().prints()
	belay(t, "gates", "hold", "api", "--until", "2h", "--reason", "maintenance").ends(0).says().prints("gate api is on hold until ")
	belay(t, "gates").ends(0).says().prints("GATE", "UNTIL", "api", "held", "maintenance")
	var shown struct {
		Key     string            `json:"key"`
		Waiting []json.RawMessage `json:"waiting"`
	}
	if got := belay(t, "gates", "--json").ends(0); json.Unmarshal([]byte(got.stdout), &shown) != nil || shown.Key != "api" || shown.Waiting == nil {
		t.Errorf("%s", got.stdout)
	}
	belay(t, "run", "--gate", "api", "--no-wait", "--", "touch", "made").ends(75).says("gate api", "maintenance", "belay gates reset api")
	belay(t, "run", "--gate", "api", "--dry-run", "--", "touch", "made").ends(0).prints("gate:      api, held until ", ": maintenance\n")
	belay(t, "__complete", "gates", "reset", "").ends(0).prints("api\n")
	belay(t, "gates", "reset", "apy").ends(0).prints("nothing to reset: gate apy is healthy; did you mean: belay gates reset api\n")
	belay(t, "gates", "reset", "elsewhere").ends(0).prints("gate elsewhere is healthy; these can be reset: api\n")
	belay(t, "gates", "reset", "api").ends(0).says().prints("gate api was reset\n")
	belay(t, "gates", "reset", "--all").ends(0).prints("nothing to reset: all gates are healthy\n")
	belay(t, "run", "--gate", "api", "--no-wait", "--", "touch", "made").ends(0)

	belay(t, "gates", "open", "api").ends(0).says().prints("the breaker of gate api is open. To close it: belay gates reset api\n")
	belay(t, "gates").ends(0).prints("open", "opened by hand")
	belay(t, "gates", "hold", "api", "--until", "23:59:59").ends(0)
	belay(t, "gates").ends(0).prints("held, breaker open", "set by hand; opened by hand")
	belay(t, "run", "--gate", "api", "--max-wait", "10ms", "--", "touch", "made").ends(75)
	belay(t, "gates", "reset", "--all").ends(0).prints("gate api was reset\n")
	belay(t, "gates", "open", "api", "--until", "1h", "--reason", "over there").ends(0)
	belay(t, "gates").ends(0).prints("open", "over there")

	log := read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl"))
	for _, want := range []string{`"gate_hold"`, `"gate_reset"`, `"gate_open"`, `"maintenance"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	belay(t, "gates", "hold", strings.Repeat("x", 1000), "--until", "1h").ends(2).says("belay: ", "see: belay gates")
}

// A breaker opens for all when enough runs have failed.
func TestGates_Breaker(t *testing.T) {
	place(t)
	failing := []string{"run", "--gate", "db", "--breaker-failures", "3", "--breaker-open", "1m", "--retry-on-exit", "1", "--max-retries", "0", "--", "false"}
	belay(t, failing...).ends(1)
	belay(t, "gates").ends(0).prints("closed, 1 failure")
	belay(t, failing...).ends(1)
	belay(t, "gates").ends(0).prints("closed, 2 failures")
	belay(t, failing...).ends(1)
	belay(t, "run", "--gate", "db", "--no-wait", "--", "true").ends(75).says("db")
	belay(t, "gates").ends(0).prints("db", "open")
}

// belay gates watch shows every change, until the context ends.
func TestGates_Watch(t *testing.T) {
	place(t)
	for _, flags := range [][]string{nil, {"--json"}} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		over := make(chan int, 1)
		go func() {
			over <- cli.Run(ctx, append([]string{"gates", "watch"}, flags...), nil, w, io.Discard)
			w.Close()
		}()
		lines := bufio.NewScanner(r)
		until := func(want string) {
			t.Helper()
			for lines.Scan() {
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			t.Fatalf("%q never came", want)
		}
		healthy, held := "all gates are healthy", "api"
		if flags != nil {
			healthy, held = `"gates":[]`, `"key":"api"`
		}
		until(healthy)
		belay(t, "gates", "hold", "api", "--until", "1h").ends(0)
		until(held)
		belay(t, "gates", "reset", "api").ends(0)
		until(healthy)
		cancel()
		if code := <-over; code != 143 {
			t.Errorf("exit code %d", code)
		}
	}
}

// A run under way is shown, waits are shown with their reason, and cancel asks its owner to stop it, as SIGTERM does.
func TestPs_AndCancel(t *testing.T) {
	place(t)
	belay(t, "ps").ends(0).says().prints("nothing is running\n")
	belay(t, "ps", "--json").ends(0).says().prints()
	belay(t, "ps", "--reap").ends(0).says().prints("nothing was left running\n")

	// The owner of the run is this process, so this process is what is asked.
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	wait := begun(t, ctx, "run", "--stream", "--scope", "one", "--", "sh", "-c", "echo ready; sleep 60")
	belay(t, "ps").ends(0).says().prints("ID", "STATE", "sh", "running")
	var run struct {
		ID    string `json:"id"`
		PID   int    `json:"pid"`
		State string `json:"state"`
	}
	if got := belay(t, "ps", "--json").ends(0); json.Unmarshal([]byte(got.stdout), &run) != nil || run.PID != os.Getpid() || run.ID == "" {
		t.Fatalf("%s", got.stdout)
	}
	belay(t, "run", "--scope", "one", "--on-busy", "fail", "--", "true").ends(75).says("one")
	belay(t, "__complete", "cancel", "").ends(0).prints(run.ID[len(run.ID)-8:] + "\tsh")
	belay(t, "cancel", "nonsense").ends(2).says(`no run has the id "nonsense"`)

	belay(t, "cancel", run.ID[len(run.ID)-8:]).ends(0).says().prints(fmt.Sprintf("asked %s (sh) to stop\n", run.ID[len(run.ID)-8:]))
	wait().ends(143)
	belay(t, "ps").ends(0).prints("nothing is running\n")
}

// One that waits at a gate is listed there, and by ps with what it waits for.
func TestPs_Waiting(t *testing.T) {
	place(t)
	belay(t, "gates", "hold", "api", "--until", "1h", "--reason", "maintenance").ends(0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	over := make(chan int, 1)
	go func() {
		over <- cli.Run(ctx, []string{"run", "--gate", "api", "--max-wait", "2h", "--", "true"}, nil, io.Discard, w)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	if !lines.Scan() || !strings.Contains(lines.Text(), "gate api is on hold until ") || !strings.Contains(lines.Text(), "; waiting. To lift it: belay gates reset api") {
		t.Fatalf("%q", lines.Text())
	}
	go io.Copy(io.Discard, r)
	belay(t, "ps").ends(0).prints("waiting ", ", until ", "gate api: ", "maintenance")
	if got := belay(t, "gates", "--json").ends(0); !strings.Contains(got.stdout, `"command":"true"`) {
		t.Errorf("nobody waits: %s", got.stdout)
	}
	cancel()
	if code := <-over; code != 143 {
		t.Errorf("exit code %d", code)
	}
}
