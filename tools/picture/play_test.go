package main

import (
	"strings"
	"testing"
)

// A line that is drawn in place is one scene for each text that it had, and the last of them stays.
func TestRecord(t *testing.T) {
	const typescript = "Script started\n\x1b[?7l\x1b[2mbelay: \x1b[0m0:02\x1b[K\x1b[?7h" + "\r\x1b[2mbelay: \x1b[0m0:01\x1b[K" + "\r\x1b[Kdone\r\n" + "Script done\n"
	const timing = "1.0 32\n1.0 23\n0.5 10\n"
	frames, err := record("$ run", typescript, timing)
	if err != nil {
		t.Fatal(err)
	}
	list := scenes(frames)
	var got []string
	for _, s := range list {
		text := ""
		for _, r := range s.line {
			text += r.text
		}
		got = append(got, text)
	}
	if strings.Join(got, "|") != "$ run|belay: 0:02|belay: 0:01|done" {
		t.Errorf("%q", got)
	}
	if list[1].from != 1 || list[1].to != 2 || list[2].to != 2.5 || list[3].to != 0 || list[1].line[0].class != "d" {
		t.Errorf("%+v", list)
	}
	style := animation(list, 2.5)
	still, _, _ := strings.Cut(style, "@media (prefers-reduced-motion: no-preference)")
	if strings.Contains(still, "animation") || !strings.Contains(style, "@keyframes s3 { 0% { visibility: hidden } 33.33% { visibility: visible } }") || strings.Contains(style, ".s0 ") {
		t.Error(style)
	}
	if _, err := record("", "x\nabc", "1 9\n"); err == nil {
		t.Error("times of another recording are taken")
	}
}
