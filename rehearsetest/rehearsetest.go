// Package rehearsetest has the stand-ins of belay rehearse for tests in Go: the services that agents, their SDKs and gh talk to, on loopback, which fail as a
// script says. What is tried is real: the CLI, the SDK, the program.
//
// The steps of a script are those of belay rehearse: docs/rehearsal.md has all of them. Nothing is spent, and what is started with [Service.Env] finds a home of
// its own, in which it knows a key that opens nothing.
package rehearsetest

import (
	"os"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/rehearse/rehearsal"
)

// Service is the stand-ins of one test: for the APIs of Anthropic, OpenAI, Google and GitHub, and those that are compatible with OpenAI's.
type Service struct {
	// URL is where they listen, as http://127.0.0.1:4711.
	URL string
	// Env is this process's environment with what leads programs to the stand-ins, for [exec.Cmd.Env].
	Env []string

	api *rehearse.API
}

// Request is one that was part of the work and took a step of the script.
type Request struct {
	At                        time.Time
	Gap                       time.Duration // since the one before; 0 for the first
	API, Method, Path, Model  string
	Step                      string        // of the script, as it is written there
	Status                    int           // of the answer; 0 if there was none
	RetryAfter                time.Duration // how long the answer has asked to wait
	InputTokens, OutputTokens int           // that were charged
	LastMessage               string        // what the user, or a tool, has said last
}

// Start starts stand-ins that do as the script says and end with the test. A mistake in the script ends the test.
func Start(t testing.TB, script string) *Service {
	t.Helper()
	dir := t.TempDir()
	api, err := rehearse.Options{Dir: dir}.Start(script)
	if err != nil {
		t.Fatalf("rehearsetest: %v", err)
	}
	t.Cleanup(func() { api.Close() })
	return &Service{URL: api.URL(), Env: rehearse.Over(os.Environ(), rehearsal.Environ(api, dir)), api: api}
}

// Requests are those that have come so far, in their order.
func (s *Service) Requests() (list []Request) {
	for _, r := range s.api.Main() {
		list = append(list, Request{r.At, r.Gap, r.API, r.Method, r.Path, r.Model, r.Step, r.Status, r.RetryAfter, r.Usage.Input, r.Usage.Output, r.LastMessage})
	}
	return list
}
