//go:build linux

package stage

import (
	"encoding/json"
	"strings"

	"github.com/belay-run/belay/internal/rehearse"
)

// Told is what the user has said in a request, message by message, without what the agent adds by itself.
func (s *Stage) Told(q rehearse.Request) (all []string) {
	s.T.Helper()
	type message struct {
		Role    string
		Content json.RawMessage
	}
	var body struct {
		Messages []message // of claude
		Input    []message // of codex
		Contents []struct {
			Role  string
			Parts []struct{ Text string }
		} // of gemini
	}
	if err := json.Unmarshal(q.Body, &body); err != nil {
		s.T.Fatalf("%v in %.300q", err, q.Body)
	}
	add := func(list []message, own string) {
		for _, m := range list {
			if m.Role != "user" {
				continue
			}
			var text string
			var blocks []struct{ Text string }
			if json.Unmarshal(m.Content, &text) == nil {
				blocks = append(blocks, struct{ Text string }{text})
			} else {
				json.Unmarshal(m.Content, &blocks)
			}
			for _, b := range blocks {
				if b.Text != "" && !strings.HasPrefix(strings.TrimSpace(b.Text), own) {
					all = append(all, b.Text)
				}
			}
		}
	}
	add(body.Messages, "<system-reminder>")
	add(body.Input, "<")
	for _, c := range body.Contents {
		for _, part := range c.Parts {
			if c.Role == "user" && part.Text != "" && !strings.HasPrefix(part.Text, "<session_context>") {
				all = append(all, part.Text)
			}
		}
	}
	return all
}

// LastTold is what the user has said in the last request.
func (s *Stage) LastTold() []string {
	s.T.Helper()
	all := s.API.Main()
	if len(all) == 0 {
		s.T.Fatal("nothing was asked")
	}
	return s.Told(all[len(all)-1])
}

// ToldOnce checks that each of the texts stands in the last request once.
func (s *Stage) ToldOnce(texts ...string) {
	s.T.Helper()
	told := s.LastTold()
	for _, text := range texts {
		if Count(told, text) != 1 {
			s.T.Errorf("%.200q is not there once in the last request: %.1000q", text, told)
		}
	}
}

// Count is how often the messages contain a text.
func Count(messages []string, text string) (n int) {
	for _, m := range messages {
		n += strings.Count(m, text)
	}
	return n
}
