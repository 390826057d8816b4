package engine

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// caller is a command that calls a service for its user, a few requests at most.
type caller struct {
	plain
	caller  agent.Caller
	info    agent.CallerInfo
	checked bool // a limit has been asked for
}

func (k *caller) traits() call.Traits {
	return call.Traits{Kind: call.CallerCommand, Gate: k.info.Gate, Provider: k.info.Provider, Changes: k.changes != nil, Timeout: k.info.Deadline, Tested: k.info.Tested}
}

func (k *caller) policy(p retry.Policy) retry.Policy { return k.withPreset(p) }

func (k *caller) prepare(n int, ad admission.Admission, _ func(transcript.TurnReport)) (launch, transcript.Transcript, error) {
	var listener agent.Listener
	if k.pace.MayRepeat() {
		listener = k.caller.Listen()
	}
	l, t := k.launch(ad, listener)
	if listener != nil {
		l.env = append(l.env[:len(l.env):len(l.env)], listener.Env()...)
	}
	return l, t, nil
}

// complete asks once when the limit ends that an attempt has run into, where it was not told.
func (k *caller) complete(j *judgement) {
	if k.checked || k.info.CheckLimit == nil || j.verdict.Class != verdict.RateLimit || !j.verdict.Hint.IsZero() {
		return
	}
	k.checked = true
	if hint, err := k.info.CheckLimit(k.pace.Ctx, k.ask(j)); err == nil {
		j.verdict.Hint = hint
	}
}

func (k *caller) preview(p *belaytype.Preview) error {
	if k.pace.MayRepeat() {
		p.Env = k.caller.Listen().Env()
	}
	return nil
}

func (k *caller) knowsFailures() bool { return true }

// askTimeout is how long a question may take that is asked on the side.
const askTimeout = 30 * time.Second

// ask returns a function that runs the same command with other arguments, which change nothing, and returns what it prints.
// Its requests are counted as the attempt's.
func (k *plain) ask(j *judgement) func(ctx context.Context, args ...string) ([]byte, error) {
	return func(ctx context.Context, args ...string) ([]byte, error) {
		command := &k.call.Command
		path, err := k.call.Settings.StarterInUse().Look(command.Args[0], command.Dir)
		if err != nil {
			return nil, err
		}
		j.asked++
		var stdout, stderr bytes.Buffer
		var process call.Process
		end := func() {}
		exit, err := k.call.Settings.StarterInUse().Run(supervise.Spec{
			Path: path, Args: append([]string{command.Args[0]}, args...), Dir: command.Dir, Env: k.call.Env, RunID: k.call.ID,
			Stdout: &limited{&stdout, 16 << 20}, Stderr: &limited{&stderr, 64 << 10},
			Placement: supervise.OwnSession, Timeout: askTimeout,
		}, func(p call.Process) {
			process = p
			stop := context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
			end = func() { stop() }
		})
		end()
		switch {
		case err != nil:
			return nil, err
		case exit.Reason != supervise.Exited:
			return nil, fmt.Errorf("%s %s did not answer", command.Name(), args[0])
		case exit.Code != 0:
			if len(exit.Left) > 0 {
				process.EndTree()
			}
			return nil, fmt.Errorf("%s %s: %s", command.Name(), args[0], message.LastLine(verdict.LastLines(stderr.String(), 1, 200)))
		}
		return stdout.Bytes(), nil
	}
}

// limited keeps what there is room for and drops the rest.
type limited struct {
	to   *bytes.Buffer
	room int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.room)
	l.room -= n
	l.to.Write(p[:n])
	return len(p), nil
}
