package setup

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/verdict"
)

// Judge returns what says what an outcome of a command means, as belay run would, and what is known of the command.
func Judge(std stdio.Streams, given config.Given, named string, argv []string) (func(verdict.Outcome) verdict.Verdict, agent.Profile, error) {
	user, err := config.ReadUser()
	if err != nil {
		return nil, nil, err
	}
	recognized, err := Recognize(std, named, argv, "")
	if err != nil {
		return nil, nil, err
	}
	known := recognized.Known
	s, rules, err := user.Load(given, NameOf(known))
	if err != nil {
		return nil, nil, err
	}
	r, err := Runner(s, rules, known)
	if err != nil {
		return nil, nil, err
	}
	r.Profile = recognized.Guard(r.Profile)
	return func(o verdict.Outcome) verdict.Verdict {
		v := r.Profile.Judge(o, time.Now())
		if r.Judge != nil {
			v = r.Judge(v, o, time.Now())
		}
		return v
	}, known, nil
}
