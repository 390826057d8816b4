// Package agenttest holds profiles against real outcomes that were labelled by hand.
package agenttest

import (
	"bytes"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// Outcomes has a profile judge, at now, every outcome of a file of JSON lines, of which there must be so many at least.
func Outcomes(t *testing.T, path string, least int, now time.Time, p agent.Profile) {
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	list, err := outcome.Read(f)
	if err != nil || len(list) < least {
		t.Errorf("%d outcomes, %v", len(list), err)
	}
	for _, saved := range list {
		t.Run(saved.ID, func(t *testing.T) {
			v := p.Judge(saved.Outcome(), now)
			for _, d := range saved.Compare(v) {
				t.Errorf("%v (by %s: %q)", d, v.Rule, v.Evidence)
			}
			if v.Class != verdict.OK && v.Evidence == "" {
				t.Error("no evidence")
			}
		})
	}
}

// Models holds that, of the outcomes of a file, only those with these ids have another model at work than the one that the CLI has named at its start. Of so many
// at least it must tell which one works.
func Models(t *testing.T, path string, p agent.Agent, least int, others ...string) {
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	list, err := outcome.Read(f)
	must.OK(t, err)
	for _, saved := range list {
		follower, o := p.Follow(agent.Plan{}), saved.Outcome()
		var use agent.ModelUse
		look := func(info agent.LineInfo) {
			if use = info.Models; use.Other(use.Begun) != (use.Used != "" && slices.Contains(others, saved.ID)) {
				t.Errorf("%s: %+v", saved.ID, use)
			}
		}
		lines := agent.Lines{Lists: true, Each: func(line agent.Line) { look(follower.Line(line)) }}
		lines.Write(o.Stdout.Head)
		lines.Write(o.Stdout.Tail)
		lines.Close()
		if follower.StderrLine != nil {
			for line := range bytes.Lines(append(o.Stderr.Head, o.Stderr.Tail...)) {
				if info, ok := follower.StderrLine(bytes.TrimSpace(line)); ok {
					look(info)
				}
			}
		}
		if use.Begun != "" && use.Used != "" {
			least--
		}
	}
	if least > 0 {
		t.Errorf("%d too few tell their model", least)
	}
}
