//go:build unix

package gates_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/commandtest"
)

// A gate is held, shown, waited at, opened and reset, and each change by hand is on record.
func TestGates(t *testing.T) {
	commandtest.Place(t)
	commandtest.Belay(t, "gates").Ends(0).Says().Prints("all gates are healthy")
	commandtest.Belay(t, "gates", "--json").Ends(0).Says().Prints()
	commandtest.Belay(t, "gates", "hold", "api", "--until", "2h", "--reason", "maintenance").Ends(0).Says().Prints("gate api is on hold until ")
	commandtest.Belay(t, "gates").Ends(0).Says().Prints("GATE", "UNTIL", "api", "held", "maintenance")
	var shown struct {
		Key     string            `json:"key"`
		Waiting []json.RawMessage `json:"waiting"`
	}
	if got := commandtest.Belay(t, "gates", "--json").Ends(0); json.Unmarshal([]byte(got.Stdout), &shown) != nil || shown.Key != "api" || shown.Waiting == nil {
		t.Errorf("%s", got.Stdout)
	}
	commandtest.Belay(t, "run", "--gate", "api", "--no-wait", "--", "touch", "made").Ends(75).Says("gate api", "maintenance", "belay gates reset api")
	commandtest.Belay(t, "run", "--gate", "api", "--dry-run", "--", "touch", "made").Ends(0).Prints("gate:      api, held until ", ": maintenance\n")
	commandtest.Belay(t, "__complete", "gates", "reset", "").Ends(0).Prints("api\n")
	commandtest.Belay(t, "gates", "reset", "apy").Ends(0).Prints("nothing to reset: gate apy is healthy; did you mean: belay gates reset api\n")
	commandtest.Belay(t, "gates", "reset", "elsewhere").Ends(0).Prints("gate elsewhere is healthy; these can be reset: api\n")
	commandtest.Belay(t, "gates", "reset", "api").Ends(0).Says().Prints("gate api was reset\n")
	commandtest.Belay(t, "gates", "reset", "--all").Ends(0).Prints("nothing to reset: all gates are healthy\n")
	commandtest.Belay(t, "run", "--gate", "api", "--no-wait", "--", "touch", "made").Ends(0)

	commandtest.Belay(t, "gates", "open", "api").Ends(0).Says().Prints("the breaker of gate api is open. To close it: belay gates reset api\n")
	commandtest.Belay(t, "gates").Ends(0).Prints("open", "opened by hand")
	commandtest.Belay(t, "gates", "hold", "api", "--until", "23:59:59").Ends(0)
	commandtest.Belay(t, "gates").Ends(0).Prints("held, breaker open", "set by hand; opened by hand")
	commandtest.Belay(t, "run", "--gate", "api", "--max-wait", "10ms", "--", "touch", "made").Ends(75)
	commandtest.Belay(t, "gates", "reset", "--all").Ends(0).Prints("gate api was reset\n")
	commandtest.Belay(t, "gates", "open", "api", "--until", "1h", "--reason", "over there").Ends(0)
	commandtest.Belay(t, "gates").Ends(0).Prints("open", "over there")

	log := commandtest.Read(t, filepath.Join(os.Getenv("BELAY_STATE_DIR"), "log.jsonl"))
	for _, want := range []string{`"gate_hold"`, `"gate_reset"`, `"gate_open"`, `"maintenance"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	commandtest.Belay(t, "gates", "hold", strings.Repeat("x", 1000), "--until", "1h").Ends(2).Says("belay: ", "see: belay gates")
}

// A breaker opens for all when enough runs have failed.
func TestGates_Breaker(t *testing.T) {
	commandtest.Place(t)
	failing := []string{"run", "--gate", "db", "--breaker-failures", "3", "--breaker-open", "1m", "--retry-on-exit", "1", "--max-retries", "0", "--", "false"}
	commandtest.Belay(t, failing...).Ends(1)
	commandtest.Belay(t, "gates").Ends(0).Prints("closed, 1 failure")
	commandtest.Belay(t, failing...).Ends(1)
	commandtest.Belay(t, "gates").Ends(0).Prints("closed, 2 failures")
	commandtest.Belay(t, failing...).Ends(1)
	commandtest.Belay(t, "run", "--gate", "db", "--no-wait", "--", "true").Ends(75).Says("db")
	commandtest.Belay(t, "gates").Ends(0).Prints("db", "open")
}

// belay gates watch shows every change, until the context ends.
func TestGates_Watch(t *testing.T) {
	commandtest.Place(t)
	for _, flags := range [][]string{nil, {"--json"}} {
		ctx, cancel := context.WithCancel(t.Context())
		r, w := io.Pipe()
		over := make(chan int, 1)
		go func() {
			over <- belay.Run(ctx, append([]string{"gates", "watch"}, flags...), nil, w, io.Discard)
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
		commandtest.Belay(t, "gates", "hold", "api", "--until", "1h").Ends(0)
		until(held)
		commandtest.Belay(t, "gates", "reset", "api").Ends(0)
		until(healthy)
		cancel()
		if code := <-over; code != 143 {
			t.Errorf("exit code %d", code)
		}
	}
}
