package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

// withAlert makes a state directory with an alert on record, and a configuration.
func withAlert(t *testing.T, config string) *record.DB {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(state.DirVar, dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	must.OK(t, os.MkdirAll(filepath.Join(dir, "config", "belay"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(dir, "config", "belay", "config.toml"), []byte(config), 0o600))
	log := journal.Log{Path: filepath.Join(dir, "log.jsonl")}
	if err := log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Alert, Event: "raised", Profile: "claude",
		Invocation: "run-1", Error: "connection reset", Detail: json.RawMessage(`{"failures":5,"within_s":600}`)}); err != nil {
		t.Fatal(err)
	}
	return openDB(t, dir)
}

func openDB(t *testing.T, dir string) *record.DB {
	t.Helper()
	d, err := record.Open(dir)
	if err == nil {
		_, err = d.Fold(context.Background())
	}
	must.OK(t, err)
	t.Cleanup(func() { d.Close() })
	return d
}

// onlyAlert returns the one alert on record.
func onlyAlert(t *testing.T, d *record.DB) record.Alert {
	t.Helper()
	list, err := d.Alerts.List(context.Background(), record.Filter{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}

func TestDeliver_Webhook(t *testing.T) {
	var got alertJSON
	var method, kind string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, kind = r.Method, r.Header.Get("Content-Type")
		json.NewDecoder(r.Body).Decode(&got)
	}))
	defer server.Close()
	d := withAlert(t, fmt.Sprintf("[alert]\nwebhook = %q\n", server.URL+"/hook?token=secret"))
	must.OK(t, Deliver(context.Background(), d))
	if method != http.MethodPost || kind != "application/json" || got.Integration != "claude" || got.Failures != 5 || got.WithinS != 600 ||
		got.Error != "connection reset" || got.Invocation != "run-1" || !strings.Contains(got.Text, "5 failures of claude within 10m;") {
		t.Errorf("%s %s %+v", method, kind, got)
	}
	if a := onlyAlert(t, d); a.Delivered == nil || a.Tries != 1 {
		t.Errorf("%+v", a)
	}
}

// A delivery is retried while the receiver refuses it, and succeeds once.
func TestDeliver_Retries(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	d := withAlert(t, fmt.Sprintf("[alert]\nwebhook = %q\n", server.URL))
	must.OK(t, Deliver(context.Background(), d))
	if a := onlyAlert(t, d); a.Delivered == nil || a.Tries != 2 || calls.Load() != 2 || a.Trouble != "" {
		t.Errorf("%d calls, %+v", calls.Load(), a)
	}
}

// A receiver that never answers delays the command only for a bounded time, and its address is in no message.
func TestDeliver_IsBounded(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	d := withAlert(t, fmt.Sprintf("[alert]\nwebhook = %q\n", server.URL+"/secret-path"))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	begun := time.Now()
	if err := Deliver(ctx, d); err == nil || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("said %v", err)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if a := onlyAlert(t, d); a.Delivered != nil || a.Trouble == "" || strings.Contains(a.Trouble, "secret-path") {
		t.Errorf("%+v", a)
	}
}

// Of many processes that fold at the same time one delivers.
func TestDeliver_Once(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		io.Copy(io.Discard, r.Body)
		time.Sleep(50 * time.Millisecond)
	}))
	defer server.Close()
	first := withAlert(t, fmt.Sprintf("[alert]\nwebhook = %q\n", server.URL))
	dir := filepath.Dir(first.Path())
	var all sync.WaitGroup
	for range 6 {
		d := openDB(t, dir)
		all.Go(func() {
			if err := Deliver(context.Background(), d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestDeliver_Command(t *testing.T) {
	sh, err := os.Stat("/bin/sh")
	if err != nil || sh.IsDir() {
		t.Skip("no /bin/sh")
	}
	out := filepath.Join(t.TempDir(), "alert.json")
	d := withAlert(t, fmt.Sprintf("[alert]\ncommand = [\"/bin/sh\", \"-c\", \"cat > \\\"$1\\\"\", \"sh\", %q]\n", out))
	must.OK(t, Deliver(context.Background(), d))
	var got alertJSON
	data, err := os.ReadFile(out)
	if err := errors.Join(err, json.Unmarshal(data, &got)); err != nil || got.Integration != "claude" || got.Failures != 5 {
		t.Errorf("%s, %v", data, err)
	}
	if a := onlyAlert(t, d); a.Delivered == nil {
		t.Errorf("%+v", a)
	}
}

func TestDeliver_CommandFails(t *testing.T) {
	for name, tt := range map[string]struct{ command, want string }{
		"missing": {`["/no/such/command"]`, "alert command: "},
		"fails":   {`["/bin/sh", "-c", "echo token=abcdefghijkl >&2; exit 3"]`, "exited 3: token=[redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := withAlert(t, "[alert]\ncommand = "+tt.command+"\n")
			ctx, cancel := context.WithCancel(context.Background())
			over := make(chan struct{})
			go func() {
				defer close(over)
				Deliver(ctx, d)
			}()
			a := onlyAlert(t, d)
			for end := time.Now().Add(time.Minute); a.Trouble == "" && time.Now().Before(end); a = onlyAlert(t, d) {
				time.Sleep(10 * time.Millisecond)
			}
			cancel() // else it would retry
			<-over
			if a.Delivered != nil || !strings.Contains(a.Trouble, tt.want) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// Without a receiver no alert is claimed.
func TestDeliver_Nobody(t *testing.T) {
	d := withAlert(t, "")
	must.OK(t, Deliver(context.Background(), d))
	if a := onlyAlert(t, d); a.Tries != 0 {
		t.Errorf("%+v", a)
	}
}
