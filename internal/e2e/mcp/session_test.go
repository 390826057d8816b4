//go:build linux

package mcp_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a client has set up is there again after a crash: its log level, and what it has subscribed to.
func TestSession_IsOpenedAnew(t *testing.T) {
	s := newStage(t)
	updated, logged := make(chan string, 10), make(chan any, 10)
	session := s.connect("2025-11-25", &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
		//lint:ignore SA1019 older clients have it, and their log level has to survive a restart
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { logged <- r.Params.Data },
	}, s.belay("plain"))
	//lint:ignore SA1019 as above
	if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
		t.Fatal(err)
	}
	if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "mem://a"}); err != nil {
		t.Fatal(err)
	}
	for _, round := range []string{"first", "second"} {
		s.call(session, "touch", text{})
		s.call(session, "log", text{Text: round})
		receive(t, round+" update", updated)
		if got := receive(t, round+" log", logged); got != round {
			t.Errorf("%v instead of %s", got, round)
		}
		s.call(session, "exit", text{N: 1})
	}
}

// In the new era there is nothing to set up but what the client listens to; the stream goes on.
func TestSession_ListensAgain(t *testing.T) {
	s := newStage(t)
	updated := make(chan string, 10)
	session := s.connect("2026-07-28", &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
	}, s.belay("plain"))
	if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "mem://a"}); err != nil {
		t.Fatal(err)
	}
	for _, round := range []string{"first", "second", "third"} {
		// The subscription is opened beside the call: it may be later.
		deadline := time.Now().Add(testTimeout)
		for got := false; !got && time.Now().Before(deadline); {
			s.call(session, "touch", text{})
			select {
			case <-updated:
				got = true
			case <-time.After(200 * time.Millisecond):
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("no %s update", round)
		}
		s.call(session, "exit", text{N: 1})
	}
}

// A tool that only the new server has is announced.
func TestSession_ChangedListsAreAnnounced(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			s := newStage(t)
			s.env = []string{"E2E_MCP_FLAG=" + filepath.Join(t.TempDir(), "flag")}
			changed := make(chan bool, 10)
			session := s.connect(version, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- true },
			}, s.belay("grows"))
			before, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond) // a go-sdk server announces its own tools with some delay
			for len(changed) > 0 {
				<-changed
			}
			s.call(session, "exit", text{}) // nothing changes
			s.echo(session, "still the same")
			s.call(session, "grow", text{})
			receive(t, "announcement", changed)
			after, err := session.ListTools(t.Context(), nil)
			if err != nil || len(after.Tools) != len(before.Tools)+1 {
				t.Errorf("%d tools after %d, %v", len(after.Tools), len(before.Tools), err)
			}
			if got, _, err := s.call(session, "grown", text{}); got != "yes" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// A call that is safe is not lost with the server.
func TestRetry_SafeCallsOnly(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			s := newStage(t)
			session := s.connect(version, nil, s.belay("plain"))
			flag := filepath.Join(t.TempDir(), "flag")
			// It is not known yet that it may be repeated.
			if got, failed, err := s.call(session, "once", text{Text: flag + "1"}); err != nil || !failed {
				t.Errorf("%q, %v, %v", got, failed, err)
			}
			if _, err := session.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if got, failed, err := s.call(session, "once", text{Text: flag + "2"}); err != nil || failed || got != "the second time" {
				t.Errorf("%q, %v, %v", got, failed, err)
			}
		})
	}
}

// While the server asks the client something, it is not the server that takes its time.
func TestAsk_GoesBothWays(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			time.Sleep(7 * time.Second)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{}}, nil
		},
	}, s.belay("plain", "--timeout", "5s"))
	for range 2 { // the ids of the second server's questions are those of the first one's
		if got, failed, err := s.call(session, "ask", text{}); err != nil || failed || got != "accept" {
			t.Errorf("%q, %v, %v", got, failed, err)
		}
		s.call(session, "exit", text{N: 1})
	}
}

// A crash in the middle of a question takes the question back.
func TestAsk_ServerDiesMeanwhile(t *testing.T) {
	s := newStage(t)
	taken := make(chan bool, 1)
	session := s.connect("2025-11-25", &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			for _, pid := range children(s.cmd.Process.Pid) {
				kill9(pid)
			}
			select {
			case <-ctx.Done():
				taken <- true
			case <-time.After(testTimeout):
			}
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	}, s.belay("plain"))
	if got, failed, err := s.call(session, "ask", text{}); err != nil || !failed || !strings.Contains(got, "signal: killed") {
		t.Errorf("%q, %v, %v", got, failed, err)
	}
	receive(t, "cancellation", taken)
	s.echo(session, "after")
}

func receive[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(testTimeout):
		t.Errorf("no %s", what)
	}
	return v
}
