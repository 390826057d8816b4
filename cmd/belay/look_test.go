//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lookat "github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/look/looker"
)

// talker is an agent that prints events until it is told to end.
const talker = `#!/bin/sh
cat >/dev/null
id='"session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"'
echo "{\"type\":\"system\",\"subtype\":\"init\",$id}"
n=0
while [ ! -e go ]; do
  n=$((n+1))
  echo "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"model\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"$n and $(head -c ${SAYS:-10} /dev/zero | tr '\0' x)\"}]},$id}"
  sleep 0.1
done
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"answer\",$id}"
`

// A process that looks at a run gets what its agent prints from then on. Its socket is removed when it stops looking. A run is not held up by one
// that leaves or does not read.
func TestLook(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	if err := os.WriteFile(filepath.Join(r.dir, "claude"), []byte(talker), 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"SAYS=20000"}
	r.start("belay", "run", "--", "./claude", "-p", "hello")
	var ran struct{ ID string }
	if !within(testTimeout, func() bool {
		out, _ := r.command("belay", "ps", "--json").Output()
		json.Unmarshal(out, &ran)
		return ran.ID != ""
	}) {
		t.Fatal("it is not listed")
	}
	sockets := lookat.Sockets{Dir: filepath.Join(r.dir, "state", "looks")}
	if _, err := os.Stat(sockets.Dir); err == nil {
		t.Error("there is a directory for sockets before anything looks")
	}
	listen := func() *looker.Listener {
		l, err := looker.Listen(sockets, ran.ID)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}

	stale := listen()
	names, _ := os.ReadDir(sockets.Dir)
	if info, err := names[0].Info(); err != nil || info.Mode().Perm() != 0o600 || info.Mode().Type() != os.ModeSocket {
		t.Errorf("the socket is %v: %v", info.Mode(), err)
	}
	defer stale.Close() // nothing reads from it
	first := listen()
	defer first.Close()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	seen := 0
	for line, err := range first.Lines(ctx) {
		if err != nil || line.Attempt != 1 || !strings.Contains(string(line.Event), `"session_id":"`) {
			t.Errorf("%+v: %v", line, err)
		}
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("%d lines were seen", seen)
	}
	first.Close()

	second := listen()
	defer second.Close()
	last := ""
	for line, err := range second.Lines(ctx) {
		if last == "" {
			os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600)
		}
		if err == nil {
			last = string(line.Event)
		}
	}
	if !strings.Contains(last, `"result":"answer"`) {
		t.Errorf("the last line is %.200s", last)
	}
	begun := time.Now()
	r.ends(0)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the run was held up for %v by one who does not read", took)
	}
	second.Close()
	stale.Close()
	if names, _ := os.ReadDir(sockets.Dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}
