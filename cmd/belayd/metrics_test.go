//go:build !norecord

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

func TestRun_Metrics(t *testing.T) {
	seedRecord(t)
	printed := asked(t, "metrics", "--").is(0, `belay_runs_total{profile="claude",class="ok"} 1`, `belay_runs_total{profile="generic",class="network"} 1`,
		`belay_attempts_total{profile="claude",model="opus",class="overloaded"} 1`, `belay_tokens_total{profile="claude",model="opus",type="input"} 1200`,
		`belay_wait_seconds_total{profile="claude",reason="backoff"} 2`, `belay_cost_dollars_total{profile="claude",model="opus"} 0.25`,
		`belay_faults_total{integration="hook:guard",class="crash"} 1`, `belay_run_duration_seconds_count{profile="claude"} 1`)
	dir := t.TempDir()
	path := filepath.Join(dir, "belay.prom")
	must.OK(t, os.WriteFile(path, []byte("old"), 0o600))
	asked(t, "metrics", "--output="+path, "--").is(0)
	written, err := os.ReadFile(path)
	if err != nil || string(written) != printed.stdout {
		t.Errorf("%v\n%s", err, written)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o644 {
		t.Errorf("a collector cannot read it: %v %v", info, err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("left behind: %v", list)
	}
	asked(t, "metrics", "--output="+filepath.Join(dir, "missing", "belay.prom"), "--").is(125, "cannot write metrics to "+filepath.Join(dir, "missing", "belay.prom"))
}
