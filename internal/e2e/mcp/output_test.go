//go:build linux

package mcp_test

import (
	"strings"
	"testing"
)

// What a server prints beside its messages goes to stderr, and the session lives on.
func TestPollution_IsDiverted(t *testing.T) {
	for name, line := range map[string]string{
		"Text":         "starting up …",
		"JSON":         `{"level":"info","msg":"a line that is JSON"}`,
		"Array":        `[INFO] ready`,
		"JSONArray":    `[{"level":"info"}]`,
		"HalfAMessage": `{"jsonrpc":"2.0","id":77,"result":{"content":[`,
		"Number":       `42`,
		"Answer":       `{"jsonrpc":"2.0","id":4711,"result":{}}`, // to a question that was not asked
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			session := s.connect("2025-11-25", nil, s.belay("plain"))
			if got, failed, err := s.call(session, "print", text{Text: line}); got != "printed" || failed || err != nil {
				t.Errorf("%q, failed %v, %v", got, failed, err)
			}
			s.echo(session, "after")
			if name != "Answer" && !strings.Contains(s.stderr.String(), line) {
				t.Errorf("%q is not on stderr", line)
			}
		})
	}
}

func TestPollution_BeforeTheFirstMessage(t *testing.T) {
	s := newStage(t)
	session := s.connect("2025-11-25", nil, s.belay("chatty"))
	s.echo(session, "hello")
	for _, line := range []string{"server is starting on stdio\n", `{"level":"info","msg":"ready"}` + "\n", "[1,2,3]\n"} {
		if !strings.Contains(s.stderr.String(), line) {
			t.Errorf("%q is not on stderr", line)
		}
	}
}

// An answer of 20 MiB is more than most clients take, but that is for them to say.
func TestLarge_Answer(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain"))
	r.open("2025-11-25")
	if m := r.tool("1", "big", `{"n":20971520}`); len(m.text()) != 20<<20 {
		t.Errorf("%d bytes", len(m.text()))
	}
	if m := r.tool("2", "echo", `{"text":"after"}`); m.text() != "after" {
		t.Error(m.line)
	}
}

// What is larger than is carried costs one answer, not the session.
func TestLarge_TooLarge(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain", "--max-message", "1"))
	r.open("2025-11-25")
	if m := r.tool("1", "big", `{"n":2097152}`); !m.Result.IsError || !strings.Contains(m.text(), "--max-message") {
		t.Errorf("%.300s", m.line)
	}
	if m := r.tool("2", "echo", `{"text":"`+strings.Repeat("x", 2<<20)+`"}`); m.Error == nil || m.Error.Code != -32012 {
		t.Errorf("%.300s", m.line)
	}
	if m := r.tool("3", "echo", `{"text":"after"}`); m.text() != "after" {
		t.Error(m.line)
	}
}
