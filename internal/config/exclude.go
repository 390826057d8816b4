package config

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/message"
)

// exclude resolves settings that contradict each other: of two layers the nearer wins, in one layer it is a mistake.
func (s *Settings) exclude() error {
	for _, pair := range []struct {
		both bool
		a, b string
		off  [2]func() // takes back a, or b
	}{
		{s.NoStdin && s.ReplayStdin, "no-stdin", "replay-stdin", [2]func(){func() { s.NoStdin = false }, func() { s.ReplayStdin = false }}},
		{s.Quiet && s.Verbose, "quiet", "verbose", [2]func(){func() { s.Quiet = false }, func() { s.Verbose = false }}},
	} {
		if !pair.both {
			continue
		}
		from := [2]string{s.From(pair.a), s.From(pair.b)}
		switch near := nearness(from[0]) - nearness(from[1]); {
		case near < 0:
			pair.off[0]()
		case near > 0:
			pair.off[1]()
		case nearness(from[0]) == 0:
			return fmt.Errorf("%s: %s", from[0], message.NotTogether(Find(pair.a).Key(), Find(pair.b).Key()))
		default:
			return message.Error(message.NotTogether(from[0], from[1]))
		}
	}
	return nil
}

// nearness orders the places that values come from; files are all one.
func nearness(from string) int {
	switch {
	case strings.HasPrefix(from, "--"):
		return 2
	case strings.HasPrefix(from, "BELAY_"):
		return 1
	}
	return 0
}
