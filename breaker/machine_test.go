package breaker_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/breaker"
)

// The states of the table. Each is the one before it plus what the name says.
var (
	healthy  = breaker.State{}
	four     = breaker.State{Failures: 4, Reason: "down"}
	fourOfA  = breaker.State{Failures: 4, Caller: "a", Reason: "down"}
	opened   = breaker.State{Generation: 1, Phase: breaker.Open, Opens: 1, Reason: "down", Since: t0, Until: at(time.Minute)}
	forced   = breaker.State{Generation: 1, Phase: breaker.Open, Forced: true, Reason: "maintenance", Since: t0, Until: at(time.Hour)}
	forever  = breaker.State{Generation: 1, Phase: breaker.Open, Forced: true, Since: t0}
	probing  = breaker.State{Generation: 2, Phase: breaker.HalfOpen, Opens: 1, Reason: "down", Since: t0, Probe: lease("a", 30*time.Second)}
	waiting  = breaker.State{Generation: 2, Phase: breaker.HalfOpen, Opens: 1, Reason: "down", Since: t0}
	oneGood  = breaker.State{Generation: 2, Phase: breaker.HalfOpen, Opens: 1, Successes: 1, Reason: "down", Since: t0}
	oneMore  = breaker.State{Generation: 2, Phase: breaker.HalfOpen, Opens: 1, Successes: 1, Reason: "down", Since: t0, Probe: lease("a", 30*time.Second)}
	closed   = breaker.State{Generation: 3, Since: t0}
	reopened = breaker.State{Generation: 3, Phase: breaker.Open, Opens: 2, Reason: "again", Since: t0, Until: at(2 * time.Minute)}
)

func lease(holder string, expires time.Duration) breaker.Lease {
	return breaker.Lease{Holder: holder, Expires: at(expires)}
}

func ticket(generation uint64) breaker.Ticket { return breaker.Ticket{Generation: generation} }

func from(caller string) breaker.Ticket { return breaker.Ticket{Caller: caller} }

func probe(generation uint64, holder string) breaker.Ticket {
	return breaker.Ticket{Generation: generation, Holder: holder, Probe: true}
}

// event is one transition under the default settings.
type event func(breaker.State) breaker.State

func success(t breaker.Ticket, d time.Duration) event {
	return func(s breaker.State) breaker.State { return s.Success(breaker.Settings{}, at(d), t) }
}

func failure(t breaker.Ticket, d time.Duration, reason string) event {
	return func(s breaker.State) breaker.State { return s.Failure(breaker.Settings{}, at(d), t, 0, reason) }
}

func release(t breaker.Ticket) event {
	return func(s breaker.State) breaker.State { return s.Release(t) }
}

func renew(t breaker.Ticket, d time.Duration) event {
	return func(s breaker.State) breaker.State { return s.Renew(breaker.Settings{}, at(d), t) }
}

func reset(s breaker.State) breaker.State { return s.Reset(t0) }

func force(until time.Time) event {
	return func(s breaker.State) breaker.State { return s.Force(t0, until, "maintenance") }
}

func with(s breaker.State, change func(*breaker.State)) breaker.State {
	change(&s)
	return s
}

func TestMachine(t *testing.T) {
	for name, tt := range map[string]struct {
		from  breaker.State
		event event
		to    breaker.State
	}{
		"Closed/SuccessOfAHealthyOneChangesNothing": {healthy, success(ticket(0), 0), healthy},
		"Closed/SuccessAfterAnOutageChangesNothing": {closed, success(ticket(3), time.Hour), closed},
		"Closed/SuccessEndsTheRow":                  {four, success(ticket(0), 0), healthy},
		"Closed/FirstFailure":                       {healthy, failure(ticket(0), 0, "down"), breaker.State{Failures: 1, Reason: "down"}},
		"Closed/FourthFailure":                      {breaker.State{Failures: 3}, failure(ticket(0), 0, "down"), four},
		"Closed/FifthFailureOpens":                  {four, failure(ticket(0), 0, "down"), opened},
		"Closed/FailureOfACaller":                   {breaker.State{Failures: 1}, failure(from("a"), 0, "down"), breaker.State{Failures: 2, Caller: "a", Reason: "down"}},
		"Closed/TheSameCallerAgain":                 {fourOfA, failure(from("a"), time.Hour, "still down"), fourOfA},
		"Closed/AnotherCallerOpens":                 {fourOfA, failure(from("b"), 0, "down"), opened},
		"Closed/NoCallerOpens":                      {fourOfA, failure(ticket(0), 0, "down"), opened},
		"Closed/ACallerAfterNoneOpens":              {four, failure(from("a"), 0, "down"), opened},
		"Closed/SuccessForgetsTheCaller":            {fourOfA, success(from("a"), 0), healthy},
		"Closed/ReleaseKeepsTheCaller":              {fourOfA, release(from("b")), fourOfA},
		"HalfOpen/ProbeOfTheSameCallerReopens":      {probing, failure(breaker.Ticket{Generation: 2, Holder: "a", Probe: true, Caller: "a"}, 0, "again"), reopened},
		"Closed/MoreThanEnoughFailuresOpen":         {breaker.State{Failures: math.MaxInt}, failure(ticket(0), 0, "down"), opened},
		"Closed/NonsenseInTheFileIsNoCredit":        {breaker.State{Failures: math.MinInt}, failure(ticket(0), 0, "down"), breaker.State{Failures: 1, Reason: "down"}},
		"Closed/Excluded":                           {four, release(ticket(0)), four},
		"Closed/RenewOfNothing":                     {four, renew(ticket(0), 0), four},
		"Closed/Reset":                              {four, reset, breaker.State{Generation: 1, Since: t0}},
		"Closed/ResetOfAHealthyOne":                 {closed, reset, closed},
		"Closed/Force":                              {healthy, force(at(time.Hour)), forced},
		"Closed/ForceUntilReset": {healthy, func(s breaker.State) breaker.State {
			return s.Force(t0, time.Time{}, "")
		}, forever},

		"Open/LateSuccess": {opened, success(ticket(0), 0), opened},
		"Open/LateFailure": {opened, failure(ticket(0), 0, "late"), opened},
		"Open/LateRelease": {opened, release(ticket(0)), opened},
		"Open/MadeUp":      {opened, success(ticket(1), 0), opened},
		"Open/MadeUpProbe": {opened, success(probe(1, ""), 0), opened},
		"Open/Reset":       {opened, reset, breaker.State{Generation: 2, Since: t0}},
		"Open/ForceKeepsTheDoubling": {opened, force(at(time.Hour)), with(forced, func(s *breaker.State) {
			s.Generation, s.Opens = 2, 1
		})},
		"Forced/LateSuccess": {forced, success(ticket(0), 0), forced},
		"Forced/Reset":       {forever, reset, breaker.State{Generation: 2, Since: t0}},

		"HalfOpen/FirstSuccessFreesTheLease":     {probing, success(probe(2, "a"), 0), oneGood},
		"HalfOpen/SecondSuccessCloses":           {oneMore, success(probe(2, "a"), 0), closed},
		"HalfOpen/MoreThanEnoughSuccessesClose":  {with(probing, func(s *breaker.State) { s.Successes = math.MaxInt }), success(probe(2, "a"), 0), closed},
		"HalfOpen/NonsenseInTheFileIsNoDebt":     {with(probing, func(s *breaker.State) { s.Successes = math.MinInt }), success(probe(2, "a"), 0), oneGood},
		"HalfOpen/FailureReopensForTwiceAsLong":  {probing, failure(probe(2, "a"), 0, "again"), reopened},
		"HalfOpen/FailureAfterOneSuccessReopens": {oneMore, failure(probe(2, "a"), 0, "again"), reopened},
		"HalfOpen/ExcludedGivesTheLeaseBack":     {probing, release(probe(2, "a")), waiting},
		"HalfOpen/ExcludedKeepsTheSuccesses":     {oneMore, release(probe(2, "a")), oneGood},
		"HalfOpen/Renew":                         {probing, renew(probe(2, "a"), 20*time.Second), with(probing, func(s *breaker.State) { s.Probe = lease("a", 50*time.Second) })},
		"HalfOpen/RenewAfterExpiry":              {probing, renew(probe(2, "a"), time.Hour), with(probing, func(s *breaker.State) { s.Probe = lease("a", time.Hour+30*time.Second) })},
		"HalfOpen/LateSuccessOfClosed":           {probing, success(ticket(0), 0), probing},
		"HalfOpen/LateFailureOfClosed":           {probing, failure(ticket(0), 0, "late"), probing},
		"HalfOpen/LateSuccessOfAnOlderHalfOpen": {with(probing, func(s *breaker.State) { s.Generation = 4 }), success(probe(2, "a"), 0),
			with(probing, func(s *breaker.State) { s.Generation = 4 })},
		"HalfOpen/MadeUpTicketThatIsNoProbe": {probing, success(ticket(2), 0), probing},
		"HalfOpen/Reset":                     {probing, reset, closed},
		"HalfOpen/Force":                     {probing, force(at(time.Hour)), with(forced, func(s *breaker.State) { s.Generation, s.Opens = 3, 1 })},

		// b took the lease over from a, which then answers after all.
		"Overtaken/SuccessCountsAndLeavesTheLease": {with(probing, func(s *breaker.State) { s.Probe = lease("b", time.Minute) }),
			success(probe(2, "a"), 0), with(oneGood, func(s *breaker.State) { s.Probe = lease("b", time.Minute) })},
		"Overtaken/SecondSuccessCloses": {with(oneMore, func(s *breaker.State) { s.Probe = lease("b", time.Minute) }),
			success(probe(2, "a"), 0), closed},
		"Overtaken/FailureReopens": {with(probing, func(s *breaker.State) { s.Probe = lease("b", time.Minute) }),
			failure(probe(2, "a"), 0, "again"), reopened},
		"Overtaken/ReleaseLeavesTheLease": {with(probing, func(s *breaker.State) { s.Probe = lease("b", time.Minute) }),
			release(probe(2, "a")), with(probing, func(s *breaker.State) { s.Probe = lease("b", time.Minute) })},
		"Overtaken/RenewLeavesTheLease": {with(probing, func(s *breaker.State) { s.Probe = lease("b", time.Minute) }),
			renew(probe(2, "a"), 0), with(probing, func(s *breaker.State) { s.Probe = lease("b", time.Minute) })},
		"ClosedAgain/LateFailureOfAProbe": {closed, failure(probe(2, "a"), 0, "late"), closed},
	} {
		t.Run(name, func(t *testing.T) { equal(t, "state", tt.event(tt.from), tt.to) })
	}
}

func TestMachine_Ask(t *testing.T) {
	second := time.Second
	for name, tt := range map[string]struct {
		from  breaker.State
		at    time.Duration
		to    breaker.State
		gets  breaker.Ticket
		until time.Duration // if refused; -1 for until reset
	}{
		"Closed":             {from: four, to: four, gets: breaker.Ticket{Holder: "b"}},
		"Closed/AgainClosed": {from: closed, to: closed, gets: breaker.Ticket{Generation: 3, Holder: "b"}},
		"Open/Before":        {from: opened, at: 59 * second, to: opened, until: time.Minute},
		"Open/After": {from: opened, at: time.Minute, gets: probe(2, "b"), to: with(probing, func(s *breaker.State) {
			s.Since, s.Probe = at(time.Minute), lease("b", 90*second)
		})},
		"Forced/Before": {from: forced, at: 59 * time.Minute, to: forced, until: time.Hour},
		"Forced/After": {from: forced, at: time.Hour, gets: probe(2, "b"), to: breaker.State{Generation: 2, Phase: breaker.HalfOpen,
			Reason: "maintenance", Since: at(time.Hour), Probe: lease("b", time.Hour+30*second)}},
		"Forced/UntilReset":      {from: forever, at: 1e6 * time.Hour, to: forever, until: -1},
		"HalfOpen/ProbeIsOut":    {from: probing, at: 29 * second, to: probing, until: 30 * second},
		"HalfOpen/LeaseExpired":  {from: probing, at: 30 * second, gets: probe(2, "b"), to: with(probing, func(s *breaker.State) { s.Probe = lease("b", 60*second) })},
		"HalfOpen/NoProbeIsOut":  {from: waiting, at: second, gets: probe(2, "b"), to: with(probing, func(s *breaker.State) { s.Probe = lease("b", 31*second) })},
		"HalfOpen/KeepsSuccess":  {from: oneGood, gets: probe(2, "b"), to: with(oneMore, func(s *breaker.State) { s.Probe = lease("b", 30*second) })},
		"Open/WithoutATimeEnded": {from: breaker.State{Phase: breaker.Open}, gets: probe(1, "b"), to: breaker.State{Generation: 1, Phase: breaker.HalfOpen, Since: t0, Probe: lease("b", 30*second)}},
	} {
		t.Run(name, func(t *testing.T) {
			refusal := tt.from.Refusal(breaker.Settings{}, at(tt.at))
			to, gets, err := tt.from.Ask(breaker.Settings{}, at(tt.at), "b")
			equal(t, "state", to, tt.to)
			equal(t, "ticket", gets, tt.gets)
			equal(t, "Refusal foresees it", (refusal != nil), (err != nil))
			if tt.until == 0 {
				equal(t, "error", err, nil)
				return
			}
			e, ok := errors.AsType[*breaker.OpenError](err)
			if !ok {
				t.Fatalf("got %v, want an *OpenError", err)
			}
			want := breaker.OpenError{Phase: tt.from.Phase, Forced: tt.from.Forced, Reason: tt.from.Reason}
			if tt.until > 0 {
				want.Until = at(tt.until)
			}
			equal(t, "refusal", *e, want)
		})
	}
}

func TestState_Healthy(t *testing.T) {
	for _, s := range []breaker.State{healthy, closed} {
		equal(t, "healthy", s.Healthy(), true)
	}
	for _, s := range []breaker.State{four, opened, forced, forever, probing, waiting, oneGood, reopened} {
		equal(t, "healthy", s.Healthy(), false)
	}
}

// failsafe-go #97: open seems to last for ever, because only a call makes it half open.
func TestState_At(t *testing.T) {
	for _, tt := range []struct {
		state breaker.State
		at    time.Duration
		want  breaker.Phase
	}{
		{healthy, 0, breaker.Closed},
		{four, 0, breaker.Closed},
		{opened, 59 * time.Second, breaker.Open},
		{opened, time.Minute, breaker.HalfOpen},
		{forced, 59 * time.Minute, breaker.Open},
		{forced, time.Hour, breaker.HalfOpen},
		{forever, 1e6 * time.Hour, breaker.Open},
		{probing, 0, breaker.HalfOpen},
		{waiting, time.Hour, breaker.HalfOpen},
	} {
		equal(t, "phase", tt.state.At(breaker.Settings{}, at(tt.at)), tt.want)
	}
}

// A State goes into a small file, and comes back as it was.
func TestState_ReasonIsShortAndWhole(t *testing.T) {
	for reason, want := range map[string]string{
		strings.Repeat("x", 1000):             strings.Repeat("x", 200),
		strings.Repeat("x", 199) + "ü and on": strings.Repeat("x", 199),
		strings.Repeat("\x80", 300):           "\uFFFD",
		"bad \xff byte":                       "bad \uFFFD byte",
	} {
		equal(t, "failure", healthy.Failure(breaker.Settings{}, t0, ticket(0), 0, reason).Reason, want)
		equal(t, "opening", four.Failure(breaker.Settings{}, t0, ticket(0), 0, reason).Reason, want)
		equal(t, "force", healthy.Force(t0, t0, reason).Reason, want)
	}
}

// One claude call that met five 500s used to open the gate of its account for a minute: it made five calls.
func TestMachine_OneRequestThatAlwaysFails(t *testing.T) {
	play := func(callers string) breaker.State {
		s := breaker.State{}
		for i, c := range callers {
			s = s.Failure(breaker.Settings{}, at(time.Duration(i)*time.Second), from(string(c)), 0, "down")
		}
		return s
	}
	for callers, failures := range map[string]int{"a": 1, "aaaaaaaaaaaaaaaaaaaa": 1, "ab": 2, "aabb": 2, "aba": 3, "abab": 4, "aaaabbbbccccdddd": 4} {
		equal(t, callers, play(callers).Failures, failures)
		equal(t, callers, play(callers).Phase, breaker.Closed)
	}
	for _, callers := range []string{"abcde", "aabbccddee", "ababa"} {
		equal(t, callers, play(callers).Phase, breaker.Open)
		equal(t, callers, play(callers).Caller, "")
	}
	long := strings.Repeat("x", 500)
	s := healthy.Failure(breaker.Settings{}, t0, from(long), 0, "down")
	if len(s.Caller) > 200 || s != s.Failure(breaker.Settings{}, t0, from(long), 0, "down") {
		t.Errorf("a long name: %+v", s)
	}
}
