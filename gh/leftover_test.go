package gh_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/gh"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
)

// A program that is killed leaves the file of its request behind. The next one that needs such a file removes it, after an
// hour, and nothing else.
func TestClient_GraphQLSweepsLeftovers(t *testing.T) {
	tmp, dir := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	dead, alive := ended.Process.Pid, os.Getpid()
	old, fresh := 61*time.Minute, 10*time.Minute
	for _, tt := range []struct {
		name string
		age  time.Duration
	}{
		{fmt.Sprintf("belay-graphql-%d-1.json", dead), old},
		{"belay-graphql-2.json", old}, // of an earlier version
		{fmt.Sprintf("belay-graphql-%d-3.json", dead), fresh},
		{fmt.Sprintf("belay-graphql-%d-4.json", alive), old}, // its program still waits for a limit
		{"belay-graphql-5.txt", old},
		{"another.json", old},
	} {
		path := filepath.Join(tmp, tt.name)
		must.OK(t, os.WriteFile(path, []byte(`{"query":""}`), 0o600))
		must.OK(t, os.Chtimes(path, time.Time{}, time.Now().Add(-tt.age)))
	}
	mine := filepath.Join(tmp, "belay-graphql-7.json") // not a request
	must.OK(t, os.WriteFile(mine, []byte(`{"notes":"mine"}`), 0o600))
	os.Chtimes(mine, time.Time{}, time.Now().Add(-old))
	must.OK(t, os.Symlink(filepath.Join(tmp, "another.json"), filepath.Join(tmp, "belay-graphql-6.json")))
	script := "#!/bin/sh\nfor f; do case $f in *belay-graphql-*) cat \"$f\" > \"$0.asked\";; esac; done\necho '{\"data\":{}}'\n"
	must.OK(t, built.WriteFile(filepath.Join(dir, "gh"), []byte(script)))
	client := &gh.Client{Path: filepath.Join(dir, "gh"), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Runner: belay.Runner{State: &belay.State{Dir: filepath.Join(dir, "state")}}}
	must.OK(t, client.GraphQL(t.Context(), "query($x: [String!]) { viewer { login } }", map[string]any{"x": []string{"a"}}, nil))
	if asked, err := os.ReadFile(filepath.Join(dir, "gh.asked")); err != nil || len(asked) == 0 {
		t.Errorf("gh was asked %q, %v", asked, err)
	}
	left, _ := os.ReadDir(tmp)
	var names []string
	for _, f := range left {
		names = append(names, f.Name())
	}
	want := []string{"another.json", fmt.Sprintf("belay-graphql-%d-3.json", dead), fmt.Sprintf("belay-graphql-%d-4.json", alive), "belay-graphql-5.txt", "belay-graphql-6.json", "belay-graphql-7.json"}
	if !sameSet(names, want) {
		t.Errorf("left are %v, want %v", names, want)
	}
}

func sameSet(a, b []string) bool {
	seen := map[string]bool{}
	for _, s := range a {
		seen[s] = true
	}
	for _, s := range b {
		if !seen[s] {
			return false
		}
	}
	return len(a) == len(b)
}
