//go:build linux

package main

import (
	"strconv"
	"strings"
)

// plain is a script about a command that belay does not know.
func (g *generator) plain() {
	g.s.Kind, g.s.Waits = "plain", planned
	g.s.Acts["job"] = g.acts(g.plainAct)
	g.run(func() []string {
		switch g.IntN(40) {
		case 0:
			return []string{"no-such-command"}
		case 1:
			return []string{"./not-executable"}
		case 2:
			return []string{"true"}
		}
		return []string{"job", pick(g.chance, "", "a b", "--flag", "-p")}
	})
	g.s.Files["work/not-executable"] = "text\n"
}

// plainAct is what a command does: something on both streams, and an end.
func (g *generator) plainAct() act {
	var a act
	if g.in(30) {
		a = append(a, op{Read: pick(g.chance, "all", "line")})
	}
	for range g.IntN(3) {
		a = append(a, pick(g.chance,
			op{Out: g.words(g.IntN(12)) + "\n"},
			op{Out: "no end of line"},
			op{Err: pick(g.chance, "warning: old format\n", "error: connection reset by peer\n", "HTTP 429 Too Many Requests\n", "503 Service Unavailable\n", "Retry-After: 1\n",
				"please try again in 20ms\n", "rate limit exceeded, try again in 3 hours\n", "panic: index out of range\n", "permission denied\n", "Error: ETIMEDOUT\n")},
			op{Sleep: g.between(1, 8)},
			op{Out: strings.Repeat("0123456789abcdef", 256), Times: g.between(1, 40)},
			op{Out: "\x00\xff binary \r\n"},
		))
	}
	if g.in(2) {
		a = append(a, op{Out: strings.Repeat("x", 64<<10), Times: 40}) // more than is held in memory
	}
	if g.in(8) {
		a = append(a, op{Spawn: pick(g.chance, "group", "session")})
	}
	if g.in(7) {
		return g.hang(a...)
	}
	if g.in(10) {
		return append(a, op{Signal: pick(g.chance, "KILL", "TERM", "INT", "SEGV", "HUP")})
	}
	return append(a, op{Exit: number(pick(g.chance, 0, 0, 0, 1, 1, 2, 3, 5, 75, 124, 126, 127, 137, 255))})
}

// hook is a script about a hook.
func (g *generator) hook() {
	g.s.Kind = "hook"
	g.s.Acts["job"] = []act{{{Read: "all"}, {Out: pick(g.chance, "", "{\"decision\":\"block\",\"reason\":\"no\"}\n", "{broken", "some text\n"), Err: pick(g.chance, "", "not allowed\n")},
		pick(g.chance, op{Exit: number(0)}, op{Exit: number(0)}, op{Exit: number(1)}, op{Exit: number(2)}, op{Signal: "KILL"}, op{Hang: true})}}
	for range g.between(1, 2) {
		args := []string{"hook", "--timeout", "400ms"}
		g.optional(&args, 40, "--fail-closed")
		event := `{"session_id":"` + sessionID(g.s.Seed, 0) + `","hook_event_name":"` + pick(g.chance, "PreToolUse", "Stop", "SessionStart") + `","tool_name":"Bash","tool_input":{"command":"ls"}}`
		g.s.Steps = append(g.s.Steps, step{Args: append(args, "--", pick(g.chance, "job", "job", "job", "no-such-command")), Stdin: &event})
	}
	g.questions()
}

// explain is a script about a saved outcome.
func (g *generator) explain() {
	g.s.Kind = "explain"
	for i := range 3 {
		program := pick(g.chance, "claude", "codex", "gh")
		list := g.recorded[program]
		if len(list) == 0 {
			g.s.Steps = append(g.s.Steps, step{Args: []string{"explain", "--help"}})
			continue
		}
		o := list[g.IntN(len(list))]
		name := "outcome-" + string(rune('a'+i))
		g.s.Files["work/"+name+".out"], g.s.Files["work/"+name+".err"] = o.Stdout, o.Stderr
		args := []string{"explain", "--profile", program, "--stdout", name + ".out", "--stderr", name + ".err"}
		if o.Signal != "" {
			args = append(args, "--signal", o.Signal)
		} else if o.ExitCode != nil {
			args = append(args, "--exit-code", strconv.Itoa(*o.ExitCode))
		}
		g.optional(&args, 60, "--json")
		g.s.Steps = append(g.s.Steps, step{Args: args})
	}
}
