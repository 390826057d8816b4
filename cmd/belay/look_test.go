//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	lookat "github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/look/viewer"
	"github.com/belay-run/belay/internal/test/must"
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

// A process that looks at a run gets what its agent prints. Its socket is removed when it stops looking. A run is not held up by one
// that leaves or does not read.
func TestLook(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	must.OK(t, built.WriteFile(filepath.Join(r.dir, "claude"), []byte(talker)))
	r.env = []string{"SAYS=20000"}
	r.start("belay", "run", "--", "./claude", "-p", "hello")
	id := listedID(r)
	sockets := lookat.Sockets{Dir: filepath.Join(r.dir, "state", "looks")}
	if _, err := os.Stat(sockets.Dir); err == nil {
		t.Error("there is a directory for sockets before anything looks")
	}
	listen := func() *viewer.Listener {
		l, err := viewer.Listen(sockets, id)
		must.OK(t, err)
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
	r.ends(0) // though one does not read
	second.Close()
	stale.Close()
	if names, _ := os.ReadDir(sockets.Dir); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// listedID is the id of the run that belay ps lists.
func listedID(r *run) string {
	r.t.Helper()
	var listed struct{ ID string }
	if !within(testTimeout, func() bool {
		out, _ := r.command("belay", "ps", "--json").Output()
		json.Unmarshal(out, &listed)
		return listed.ID != ""
	}) {
		r.t.Fatal("it is not listed")
	}
	return listed.ID
}

// waiter is an agent that calls a tool, which takes as long as it takes.
const waiter = `#!/bin/sh
cat >/dev/null
id='"session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"'
echo "{\"type\":\"system\",\"subtype\":\"init\",$id}"
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"$n\"}]},$id}"; done
touch called
while [ ! -e go ]; do sleep 0.1; done
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"answer\",$id}"
`

// One who begins to look while the agent is silent gets its last lines, and each line once.
func TestLook_Silent(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	must.OK(t, built.WriteFile(filepath.Join(r.dir, "claude"), []byte(waiter)))
	r.start("belay", "run", "--", "./claude", "-p", "hello")
	id := listedID(r)
	if !within(testTimeout, func() bool { _, err := os.Stat(filepath.Join(r.dir, "called")); return err == nil }) {
		t.Fatal("the agent has not got there")
	}
	l, err := viewer.Listen(lookat.Sockets{Dir: filepath.Join(r.dir, "state", "looks")}, id)
	must.OK(t, err)
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	var said []string
	for line, err := range l.Lines(ctx) {
		var e struct {
			Message struct{ Content []struct{ Text string } }
			Result  string
		}
		if err := errors.Join(err, json.Unmarshal(line.Event, &e)); err != nil {
			t.Fatalf("%+v: %v", line, err)
		}
		for _, c := range e.Message.Content {
			said = append(said, c.Text)
		}
		if e.Result != "" {
			said = append(said, e.Result)
		}
		if len(said) > 0 && said[len(said)-1] == "20" {
			os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600)
		}
	}
	// There are more than 16 if Belay had not read all that the agent had printed when the look began.
	const all = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 answer"
	if got := strings.Join(said, " "); len(said) < 17 || !strings.HasSuffix(" "+all, " "+got) {
		t.Errorf("seen: %s", got)
	}
	r.ends(0)
}
