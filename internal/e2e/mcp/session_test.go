//go:build linux

package mcp_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/belay-run/belay/internal/test/must"
)

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
			must.OK(t, err)
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

func receive[T any](t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(testTimeout):
		t.Errorf("no %s", what)
	}
	return v
}
