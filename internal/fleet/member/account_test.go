//go:build linux

package member_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"
)

// account is a service that answers so many requests in each window, and refuses the rest.
type account struct {
	limit  int
	window time.Duration

	mu                sync.Mutex
	until             time.Time
	taken             int
	requests, refused int
	windows           []int // how many were refused in each
}

func (a *account) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if !now.Before(a.until) { // a window begins with a request
		a.until, a.taken = now.Add(a.window), 0
		a.windows = append(a.windows, 0)
	}
	a.requests++
	if a.taken < a.limit {
		a.taken++
		fmt.Fprintln(w, "ok")
		return
	}
	a.refused++
	a.windows[len(a.windows)-1]++
	w.Header().Set("Retry-After", strconv.Itoa(int(a.until.Sub(now)/time.Second)+1))
	w.WriteHeader(http.StatusTooManyRequests)
}

// Five machines with four workers each share an account that allows twenty requests in a window. None of the results is lost, and few requests are
// refused: after each hold the fleet starts slowly as a whole.
func TestMember_OneAccount(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl")
	}
	t.Parallel()
	calls, window, most := 2, 3*time.Second, 40+30
	if os.Getenv("BELAY_TEST_FULL") != "" {
		calls, window, most = 10, 6*time.Second, 250
	}
	list := join(t, "ant", "bee", "cat", "dog", "elk")
	service := &account{limit: 20, window: window}
	server := httptest.NewServer(service)
	defer server.Close()
	begun := time.Now()
	var all sync.WaitGroup
	for _, m := range list {
		for range 4 {
			all.Go(func() {
				for range calls {
					cmd := m.command("run", "--quiet", "--gate", "account", "--retry-on", "error: 429", "--", curl, "-sS", "-f", "--max-time", "30", "-D", "/dev/stderr", server.URL)
					var stderr bytes.Buffer
					cmd.Stderr = &stderr
					if out, err := cmd.Output(); err != nil || string(out) != "ok\n" {
						t.Errorf("a result is lost: %v, %q, %s", err, out, stderr.Bytes())
					}
				}
			})
		}
	}
	all.Wait()
	results := 20 * calls
	t.Logf("5 machines × 4 workers × %d calls, 20 in %v: %d requests for %d results (%.2f each), %d refused (by window %v), in %v", calls, window, service.requests, results,
		float64(service.requests)/float64(results), service.refused, service.windows, time.Since(begun).Round(time.Millisecond))
	if service.requests > most {
		t.Errorf("%d requests for %d results", service.requests, results)
	}
}
