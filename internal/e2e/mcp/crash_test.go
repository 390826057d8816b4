//go:build linux

package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
)

// The crash probe: a call, one that the server does not survive, then four more.
func TestCrash_FourOfFour(t *testing.T) {
	for i, tt := range []struct {
		name  string
		tool  string
		in    text
		want  []string // in what the crashing call is told
		flags []string
	}{
		{"Exit", "exit", text{N: 3}, []string{"exit status 3", "about to exit"}, nil},
		{"ExitZero", "exit", text{}, []string{"exit status 0", "about to exit"}, nil},
		{"Panic", "panic", text{}, []string{"exit status 2", "out of cheese"}, nil},
		{"Kill", "kill", text{}, []string{"signal: killed"}, nil},
		{"Hung", "stop", text{}, []string{"did not answer within"}, []string{"--tool-timeout", "stop=2s", "--hang-timeout", "1s"}},
		{"StdoutClosed", "mute", text{}, []string{"signal: terminated"}, nil},
	} {
		for j, version := range []string{"2025-11-25", "2026-07-28"} {
			if !clitest.OneOf(2, i+j) {
				continue // every day each kind has one version of the protocol
			}
			t.Run(tt.name+"/"+version, func(t *testing.T) {
				s := newStage(t)
				session := s.connect(version, nil, s.belay("plain", tt.flags...))
				s.echo(session, "before")
				got, failed, err := s.call(session, tt.tool, tt.in)
				if err != nil || !failed {
					t.Errorf("the crashing call: %q, failed %v, %v", got, failed, err)
				}
				for _, want := range tt.want {
					if !strings.Contains(got, want) {
						t.Errorf("%q is not in what the crashing call was told: %q", want, got)
					}
				}
				for i := range 4 {
					s.echo(session, fmt.Sprint("after ", i))
				}
			})
		}
	}
}
