package engine

import (
	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/transcript"
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
