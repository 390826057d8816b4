//go:build !norecord

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRun_Report(t *testing.T) {
	seedRecord(t)
	asked(t, "report", "--since=all", "--format=md", "--").is(0, "## belay: ", "| `opus` |", "| `network` |")
	path := filepath.Join(t.TempDir(), "report.html")
	asked(t, "report", "--since=all", "--format=html", "--output="+path, "--").is(0)
	written, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(written), "<!doctype html>") || !strings.Contains(string(written), `"model":"opus"`) && !strings.Contains(string(written), `"key":"opus"`) {
		t.Errorf("%v\n%.300s", err, written)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v %v", info, err)
	}
	asked(t, "report", "--since=all", "--format=pdf", "--").is(2, `--format: "pdf" is not html or md`)
	asked(t, "report", "--since=yesterweek", "--format=md", "--").is(2, "yesterweek")
}
