package run

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// checkedText is a check with the last lines that it has printed.
func checkedText(c *belaytype.Check) string {
	return strings.TrimSuffix("$ "+printable.Line(c.Command)+"\n"+verdict.LastLines(c.Output, 10, 2000), "\n")
}

// checkPreview says how the work would be checked.
func checkPreview(r *engine.Runner) string {
	c := &r.Check
	text := fmt.Sprintf("%q, for at most %s", c.Line, printable.Span(c.Limit()))
	if _, ok := r.Profile.(agent.Agent); ok {
		text = message.Sentences(text, fmt.Sprintf("if it fails, %s is told at most %s", r.Profile.Name(), message.Count(c.Most(), "time")))
	}
	return text
}
