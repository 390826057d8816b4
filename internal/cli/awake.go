package cli

import (
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// keepAwake keeps the machine from going to sleep where the settings ask for it, until the returned function is called. A flag that cannot be kept is refused; a
// setting is left out, which is said to a user who wants to know.
func keepAwake(s *config.Settings, say func(string)) (release func(), err error) {
	if !s.KeepAwake {
		return func() {}, nil
	}
	release, err = supervise.KeepAwake()
	switch {
	case err == nil:
		return release, nil
	case s.From("keep-awake") == "--keep-awake":
		return nil, usage(message.Error("--keep-awake cannot be used here: "+err.Error(), err), "")
	case s.Verbose:
		say(s.From("keep-awake") + " has no effect here: " + err.Error())
	}
	return func() {}, nil
}
