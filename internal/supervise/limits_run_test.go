//go:build linux

package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func TestLimits_Passed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		limit  func(*supervise.Spec)
		start  func(*supervise.Process)
		want   supervise.Reason
	}{
		"Deadline": {script: "while :; do echo; sleep 0.005; done", want: supervise.Deadline,
			limit: func(s *supervise.Spec) { s.Timeout, s.Stall = 100*time.Millisecond, testTimeout }},
		"Stalled": {script: "echo; sleep 300", want: supervise.Stalled,
			limit: func(s *supervise.Spec) { s.Stall, s.Timeout = 100*time.Millisecond, testTimeout }},
		"Lingered": {script: "sleep 300", want: supervise.Lingered, start: (*supervise.Process).Delivered,
			limit: func(s *supervise.Spec) { s.Linger = 50 * time.Millisecond }},
		// The clock of Linger begins while the watch waits for another one.
		"LingeredBeforeStall": {script: "sleep 300", want: supervise.Lingered,
			limit: func(s *supervise.Spec) { s.Linger, s.Stall = 50*time.Millisecond, testTimeout },
			start: func(p *supervise.Process) { time.AfterFunc(20*time.Millisecond, p.Delivered) }},
		"EndsInTime": {script: "exit 0", want: supervise.Exited,
			limit: func(s *supervise.Spec) { s.Timeout, s.Stall, s.Linger = testTimeout, testTimeout, testTimeout }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := shell(tt.script)
			spec.Ladder = hurried(supervise.Terminate)
			tt.limit(&spec)
			if exit := run(t, spec, tt.start); exit.Reason != tt.want {
				t.Errorf("%v, want %v", exit.Reason, tt.want)
			}
			noneLeft(t, spec.RunID)
		})
	}
}

// Output is a sign of life on either stream, also if the caller does not want it.
func TestStall_SignsOfLife(t *testing.T) {
	t.Parallel()
	const busy = "i=0; while [ $i -lt 60 ]; do echo x%s; i=$((i+1)); sleep 0.1; done"
	for name, tt := range map[string]struct {
		script string
		set    func(*supervise.Spec)
		start  func(*supervise.Process)
	}{
		"Stdout":          {script: strings.ReplaceAll(busy, "%s", ""), set: func(s *supervise.Spec) { s.Stdout = &bytes.Buffer{} }},
		"Stderr":          {script: strings.ReplaceAll(busy, "%s", " >&2"), set: func(s *supervise.Spec) { s.Stderr = &bytes.Buffer{} }},
		"WantedByNobody":  {script: strings.ReplaceAll(busy, "%s", ""), set: func(*supervise.Spec) {}},
		"BeatIsLifeToo":   {script: "sleep 6", set: func(*supervise.Spec) {}, start: beatFor(8 * time.Second)},
		"Unlimited":       {script: "sleep 6", set: func(*supervise.Spec) {}, start: func(p *supervise.Process) { p.SetStall(supervise.Unlimited) }},
		"BlockedConsumer": {script: "yes | head -c 1000000", set: func(s *supervise.Spec) { s.Stdout = &blocked{} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := shell(tt.script)
			spec.Stall = 5 * time.Second // a busy machine keeps the command from writing for longer than one
			tt.set(&spec)
			if exit := run(t, spec, tt.start); exit.Reason != supervise.Exited || exit.Code != 0 {
				t.Errorf("%+v", exit)
			}
		})
	}
}

// A command that has delivered its result and begins something else may take its time again.
func TestDelivered_TakenBack(t *testing.T) {
	t.Parallel()
	spec := shell("sleep 3")
	spec.Linger = 2 * time.Second
	exit := run(t, spec, func(p *supervise.Process) {
		p.Delivered()
		p.Working()
	})
	if exit.Reason != supervise.Exited || exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
}

func beatFor(d time.Duration) func(*supervise.Process) {
	return func(p *supervise.Process) {
		go func() {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
				p.Beat()
			}
		}()
	}
}

// blocked is a reader that pauses, as a pager does: the command waits for it, and is not silent itself.
type blocked struct{ once bool }

func (b *blocked) Write(p []byte) (int, error) {
	if !b.once {
		b.once = true
		time.Sleep(6 * time.Second) // more than the limit
	}
	return len(p), nil
}

func init() {
	helpers["stalls"] = func(args []string) {
		spec := supervise.Spec{Path: "/bin/sh", Args: []string{"sh", "-c",
			`: > "$0"; while [ ! -e "$0.go" ]; do sleep 0.01; done; exit 7`, args[0]}}
		spec.Stall, spec.Ladder = 5*time.Second, supervise.Ladder{}
		exit, err := (&supervise.Supervisor{}).Run(spec, nil)
		if err != nil {
			panic(err)
		}
		os.WriteFile(args[0]+".code", fmt.Append(nil, exit.Code, " ", exit.Reason), 0o600)
	}
}

// A supervisor that is suspended with its command does not count that time as silence.
func TestLimits_SuspendedTogether(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	cmd := helper("stalls", file)
	must.OK(t, cmd.Start())
	eventually(t, "it runs", func() bool { return exists(file) })
	cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(6200 * time.Millisecond) // more than the limit, and by more than a busy machine is late
	cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(20 * time.Millisecond) // in which it would be killed
	os.WriteFile(file+".go", nil, 0o600)
	must.OK(t, cmd.Wait())
	if code, _ := os.ReadFile(file + ".code"); string(code) != "7 exited" {
		t.Errorf("%s, want 7 exited", code)
	}
}
