package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/supervise"
)

// dryRun says what would be done, as far as that can be known without doing it.
func dryRun(w io.Writer, s *config.Settings, r *belay.Runner, c *belay.Command) error {
	path, err := supervise.Look(c.Args[0], c.Dir)
	if err != nil {
		path = err.Error()
	}
	fmt.Fprintf(w, "command:   %q\n           %s\nprofile:   %s\nretries:   %s\n", c.Args, path, r.Profile.Name(), schedule(r))
	for i := range config.Table {
		name := config.Table[i].Name
		if from := s.From(name); from != "" && name != "dry-run" {
			fmt.Fprintf(w, "set:       %s = %s (%s)\n", name, s.Text(name), from)
		}
	}
	return nil
}

// schedule shows the delays before the first retries.
func schedule(r *belay.Runner) string {
	p := r.Policy
	if p.MaxRetries <= 0 {
		return "none"
	}
	const shown = 6
	var delays []string
	for n := range min(p.MaxRetries, shown) {
		delays = append(delays, term.Span(p.Backoff(n)))
	}
	if p.MaxRetries > shown {
		delays = append(delays, "…")
	}
	return fmt.Sprintf("%d, after %s; jitter %v", p.MaxRetries, strings.Join(delays, ", "), p.Jitter)
}
