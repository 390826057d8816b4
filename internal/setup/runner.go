package setup

import (
	"cmp"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/verdict"
)

// Holds says how long a gate holds all calls after a throttle that names no time.
func Holds(set gate.Settings) string {
	first, longest := set.Holds()
	return printable.Span(first) + ", doubling to " + printable.Span(longest)
}

// Runner makes the runner that the settings ask for. known is what is known of the command; nil if nothing is.
func Runner(s *config.Settings, rules []verdict.Rule, known agent.Profile) (*engine.Runner, error) {
	exits := s.RetryExits(known != nil)
	own, err := generic.New(generic.Options{
		Retry:     s.Chosen("max-retries") || s.Chosen("preset"),
		RetryExit: exits, RetryOn: s.RetryOn, FailOn: s.FailOn, Rules: rules,
	})
	if err != nil {
		return nil, err
	}
	r := &engine.Runner{
		Profile:   own,
		Policy:    s.Policy(NameOf(known), known != nil),
		State:     &state.State{Prices: s.Prices},
		Prices:    s.Prices,
		Words:     func(cause error) string { return causeText(s, cause) },
		Limits:    engine.Limits{Stall: s.StallTimeout, OnlyAttempt: s.OnlyAttempt(), AtMost: engine.Bounds(s.AtMost), Reap: s.Reap, MaxCost: s.MaxCost},
		Streams:   engine.Streams{Stream: s.Stream, ReplayStdin: s.ReplayStdin},
		Admission: engine.Admission{Scope: s.Scope, OnBusy: belaytype.OnBusy(s.OnBusy), NoWait: s.NoWait || s.From("max-retries") != "" && s.MaxRetries == 0},
		Record:    engine.Record{LogDir: s.LogDir, OwnCode: s.ExitCodeOut == "child", Telemetry: s.Telemetry, NoRecord: s.NoRecord, KeepPrompt: s.KeepPrompt, NoTail: s.NoTail},
	}
	if s.Chosen("stall-timeout") && s.StallTimeout == 0 {
		r.Stall = -1
	}
	if known != nil {
		r.Profile = known
		if own.Reads() || len(exits) > 0 {
			r.Judge = own.Overrule
		}
	}
	r.Effects = belaytype.Effects{Verify: s.VerifyEffect, Repeat: s.RetryUnsafe}
	if r.LimitBuffer = s.LimitBuffer; s.From("rate-limit-buffer") != "" && s.LimitBuffer == 0 {
		r.LimitBuffer = -1
	}
	if r.Resume, err = resumption(s, known); err != nil {
		return nil, err
	}
	r.Check = check(s)
	r.Labels = label.Labels{Name: s.Name, Tags: s.Tags}
	if r.Budgets, err = Budgets(s, NameOf(known)); err != nil {
		return nil, err
	}
	if s.MaxParallel > 0 && s.Gate == "" && known == nil {
		return nil, command.Usage(message.Error("--max-parallel needs a gate"), "add: --gate NAME")
	}
	setCeilings(s, r, known)
	if _, err := IdleFlags(s, r, known); err != nil {
		return nil, err
	}
	s.BreakerFailures = cmp.Or(s.BreakerFailures, CLI(known).BreakerFailures)
	r.Gate = belaytype.Gate{Key: s.Gate, MaxParallel: s.MaxParallel, Settings: GateSettings(s), Off: s.NoGate}
	return r, nil
}

// resumption is what the settings say of sessions.
func resumption(s *config.Settings, known agent.Profile) (belaytype.Resume, error) {
	r := belaytype.Resume{Session: s.Resume, Prompt: s.ResumePrompt, Never: s.NoResumeOnRetry, HandOver: s.HandOver || s.MaxResumeCost > 0, MaxCost: s.MaxResumeCost}
	if s.ResumeOrNew != "" {
		if s.Resume != "" {
			return r, command.Usage(message.Error(message.NotTogether("--resume", "--resume-or-new")), "")
		}
		r.Session, r.OrNew = s.ResumeOrNew, true
	}
	if s.ResumeInterrupted != "" {
		switch {
		case s.Resume != "":
			return r, command.Usage(message.Error(message.NotTogether("--resume", "--resume-interrupted")), "")
		case s.ResumeOrNew != "":
			return r, command.Usage(message.Error(message.NotTogether("--resume-or-new", "--resume-interrupted")), "")
		case s.ResumeInterrupted == belaytype.LastSession:
			return r, command.Usage(message.Error("--resume-interrupted needs the id of a session"), "")
		}
		r.Session, r.Interrupted = s.ResumeInterrupted, true
	}
	if _, ok := known.(agent.Agent); r.Session != "" && !ok {
		return r, command.Usage(message.Error("only agents have sessions that can be resumed"), message.AsIn("belay run --resume last -- claude -p 'go on'"))
	}
	return r, nil
}

func GateSettings(s *config.Settings) gate.Settings {
	return gate.Settings{Breaker: breaker.Settings{Failures: s.BreakerFailures, Successes: s.BreakerSuccesses,
		Open: s.BreakerOpen, MaxOpen: 10 * s.BreakerOpen}}
}
