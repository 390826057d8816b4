package main

import "strings"

// answer is what the stand-in says once a fault has passed: a run that prints it was of use.
const answer = "Forty-two."

// fault is one way in which an API fails.
type fault struct {
	name  string   // what happens, for the table
	steps string   // what the stand-in does, as docs/rehearsal.md describes it
	flags []string // of belay run
}

// faults are the rows of the table. All but the wrong key pass: a run that goes on for long enough gets its answer.
var faults = []fault{
	{name: "Rate limit with `retry-after: 61`", steps: `429(retry-after=61)`},
	{name: "Overloaded for five requests", steps: `overloaded x5`},
	{name: "Answer breaks off, three times", steps: `end-mid x3`},
	{name: "Hang, nothing is sent (`--stall-timeout 10s`)", steps: `hang`, flags: []string{"--stall-timeout", "10s"}},
	{name: "Wrong API key", steps: `401 x*`},
	{name: "Usage limit that resets in 45 s", steps: `usage-limit(resets=45s)`},
}

// script is what the stand-in plays: the fault, and good answers from there on if it passes.
func (f *fault) script() string {
	if strings.HasSuffix(f.steps, "x*") {
		return f.steps
	}
	return f.steps + `, 200(text="` + answer + `") x*`
}
