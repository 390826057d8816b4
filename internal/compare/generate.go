//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// generate makes the script of a seed. recorded are outcomes of real programs, which some of the acts replay.
func generate(seed uint64, recorded recordings) *script {
	g := &generator{chance: newChance(seed), recorded: recorded, s: &script{Seed: seed, Acts: map[string][]act{}, Files: map[string]string{}}}
	switch n := g.IntN(100); {
	case n < 34:
		g.plain()
	case n < 60:
		g.claude()
	case n < 80:
		g.codex()
	case n < 95:
		g.gh()
	case n < 97:
		g.busy()
	case n < 98:
		g.alerts()
	case n < 99:
		g.hook()
	default:
		g.explain()
	}
	return g.s
}

// generator makes one script.
type generator struct {
	chance
	recorded recordings
	s        *script
	hangs    bool // an act of it lasts until a limit ends it
}

// run adds calls of belay run for a command, which is another one each time.
func (g *generator) run(command func() []string) {
	calls := pick(g.chance, 1, 1, 1, 2, 2, 3)
	gate := []string(nil)
	if g.in(12) {
		gate = []string{"--gate", pick(g.chance, "api", "api:eu")}
	}
	for i := range calls {
		flags := g.flags()
		flags = append(flags, gate...)
		s := step{Args: append(append(append([]string{"run"}, flags...), "--"), command()...)}
		if g.in(25) {
			s.Stdin = pick(g.chance, new(""), new("some input\n"), new(strings.Repeat("a longer input\n", 2000)))
		}
		if g.in(10) {
			s.Env = append(s.Env, pick(g.chance, "BELAY_MAX_RETRIES=1", "BELAY_QUIET=true", "BELAY_OUTPUT_FORMAT=json", "CLAUDE_MAX_RETRIES=2", "BELAY_MAX_RETRYS=3",
				"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "BELAY_STREAM=true", "BELAY_NO_GATE=true", "BELAY_VERBOSE=true"))
		}
		switch {
		case i == 0 && g.in(8):
			g.interrupt(&s)
		case i == 0 && g.in(3):
			g.readerLeaves(&s)
		case i == 0 && !g.hangs && g.in(5):
			g.live(&s)
		case g.in(1) && !g.hangs:
			s.Stdin, s.Silent = nil, true
			s.Args = slices.Insert(s.Args, slices.Index(s.Args, "--"), "--timeout=600ms")
		}
		g.s.Steps = append(g.s.Steps, s)
	}
	if g.in(8) {
		g.s.Files["config/belay/config.toml"] = g.config()
	}
	g.questions()
}

// interrupt has belay get a signal while its command runs, or while it waits for the next attempt.
func (g *generator) interrupt(s *step) {
	s.Signal, s.Ready = pick(g.chance, "INT", "TERM", "TERM", "HUP", "KILL"), "running"
	hang := act{{Mark: "running"}, {Hang: true}}
	if g.in(30) {
		hang = append(act{{Trap: number(g.between(0, 5))}}, hang...)
	}
	if g.in(30) {
		hang = act{{Mark: "running", Err: "connection reset by peer\n"}, {Exit: number(1)}}
		s.After = 250
		s.Args = append([]string{"run", "--max-retries=2", "--base-delay=30s", "--max-delay=30s", "--jitter=none", "--max-wait=10m"}, command(s.Args)...)
	}
	for _, name := range slices.Sorted(maps.Keys(g.s.Acts)) {
		before := act{}
		switch {
		case name == "claude" && g.in(70):
			before = act{g.claudeInit(), g.said(1, text("begun")), {Append: ".claude/projects/-work/{{session}}.jsonl", Text: event("type", "assistant", "timestamp", "{{now}}", "version", "2.1.325",
				"message", map[string]any{"id": "msg_1", "model": "claude-opus-4-8", "stop_reason": "tool_use", "usage": usage(100, 20)})}}
		case name == "codex" && g.in(70):
			before = act{{Read: "all", Out: event("type", "thread.started", "thread_id", "{{session}}")}, codexRecord()}
		}
		g.s.Acts[atStep(name, len(g.s.Steps))] = []act{append(before, hang...)}
	}
}

// live has the command go on only when what it has printed has come through.
func (g *generator) live(s *step) {
	s.Seen = true
	s.Args = slices.Insert(s.Args, slices.Index(s.Args, "--"), "--timeout=1500ms")
	for _, name := range slices.Sorted(maps.Keys(g.s.Acts)) {
		a := act{{Out: "first\n"}, {Await: "seen"}, {Out: "second\n"}, {Exit: number(0)}}
		switch name {
		case "claude":
			a = act{g.claudeInit(), g.said(1, text("first")), {Await: "seen"}, claudeResult("success", "second"), {Exit: number(0)}}
		case "codex":
			said := func(text string) op {
				return op{Out: event("type", "item.completed", "item", map[string]any{"id": "item_1", "type": "agent_message", "text": text})}
			}
			a = act{{Read: "all", Out: event("type", "thread.started", "thread_id", "{{session}}")}, said("first"), {Await: "seen"}, said("second"), {Out: event("type", "turn.completed")}, {Exit: number(0)}}
		}
		g.s.Acts[atStep(name, len(g.s.Steps))] = []act{a}
	}
}

// readerLeaves has the reader of belay's output leave while the command still writes.
func (g *generator) readerLeaves(s *step) {
	s.Takes = 10
	for _, name := range slices.Sorted(maps.Keys(g.s.Acts)) {
		a := act{{Out: "some output, of which only the beginning is read\n", Sleep: 150}, {Out: strings.Repeat("more of it\n", 1000), Times: 30}, {Exit: number(0)}}
		if name == "claude" {
			a = act{g.claudeInit(), g.said(1, text("hello")), {Sleep: 150}, g.said(2, text("more")), {Sleep: 150}, claudeResult("success", "done"), {Exit: number(0)}}
		}
		g.s.Acts[atStep(name, len(g.s.Steps))] = []act{a}
	}
}

// command is what stands behind the flags of belay run, with the dashes before it.
func command(args []string) []string { return args[slices.Index(args, "--"):] }

// busy is a script in which a run wants what another one has: a scope, or the only slot of a gate.
func (g *generator) busy() {
	g.s.Kind = "busy"
	g.s.Acts["job"] = []act{{{Mark: "running"}, {Await: "release"}, {Out: "first is done\n"}}, {{Out: "second is done\n"}}}
	shared := pick(g.chance, []string{"--scope", "only-one"}, []string{"--gate", "api", "--max-parallel", "1"})
	first := step{Args: slices.Concat([]string{"run"}, shared, []string{"--", "job", "first"}), Background: true, Ready: "running"}
	g.s.Steps = append(g.s.Steps, first)
	for range g.between(1, 2) {
		args := slices.Concat([]string{"run"}, shared)
		if shared[0] == "--scope" {
			args = append(args, "--on-busy", pick(g.chance, "fail", "fail", "replace", "wait"))
		}
		args = append(args, pick(g.chance, "--max-wait=50ms", "--no-wait"))
		g.optional(&args, 40, "--output-format", "json")
		g.optional(&args, 40, "--max-retries", "2")
		g.s.Steps = append(g.s.Steps, step{Args: append(args, "--", "job", "second")})
	}
	g.questions()
}

// alerts is a script in which so much fails that belay says so.
func (g *generator) alerts() {
	g.s.Kind = "alerts"
	program := pick(g.chance, "job", "gh", "claude")
	g.s.Acts[program] = []act{{{Read: "all", Err: "Error: connect ECONNREFUSED\n"}, {Exit: number(1)}}}
	for range g.between(4, 7) {
		args := []string{"run", "--max-retries=0"}
		g.optional(&args, 70, "--no-gate")
		g.s.Steps = append(g.s.Steps, step{Args: append(args, "--", program, "-p")})
	}
	g.s.Steps = append(g.s.Steps, step{Args: []string{"alerts", "--json"}})
}

// flags are settings of belay run. Waits are short, whatever else they are.
func (g *generator) flags() []string {
	var f []string
	jitter := "none"
	if g.in(15) {
		jitter = pick(g.chance, "full", "proportional:0.2", "plus:1ms", "additive:0.25")
		g.s.Waits = random
	}
	if !g.in(8) || g.hangs {
		f = append(f, "--base-delay", pick(g.chance, "0", "1ms", "3ms", "20ms"), "--max-delay", pick(g.chance, "5ms", "30ms"), "--jitter", jitter)
		wait := pick(g.chance, "2ms", "150ms", "400ms", "400ms", "400ms")
		if jitter != "none" {
			wait = "400ms" // else it would be left to chance whether a delay fits
		}
		f = append(f, "--max-wait", wait, "--rate-limit-buffer", pick(g.chance, "0", "1ms"))
	} else {
		f = append(f, "--no-wait")
	}
	if g.in(75) {
		f = append(f, "--max-retries", pick(g.chance, "0", "1", "1", "2", "2", "3", "4"))
	}
	g.optional(&f, 5, "--preset", pick(g.chance, "default", "claude", "codex", "gh", "gateway", "sdk", "transport", "interactive", "background", "aggressive"))
	g.optional(&f, 8, "--factor", pick(g.chance, "1", "1.5", "3"))
	g.limits(&f)
	g.optional(&f, 8, "--retry-on-exit", pick(g.chance, "1", "5", "1,75", "137", "143,3"))
	g.optional(&f, 8, "--retry-on", pick(g.chance, "reset", "429|5\\d\\d", "never-printed", "(?i)error"))
	g.optional(&f, 8, "--fail-on", pick(g.chance, "green", "429", "never-printed", "done", "^$"))
	g.optional(&f, 6, "--prompt", pick(g.chance, "a prompt", "/compact", "-", g.words(300), ""))
	if g.in(3) {
		g.s.Files["work/prompt.txt"] = g.words(20)
		f = append(f, "--prompt-file", "prompt.txt")
	}
	g.optional(&f, 5, "--no-stdin")
	g.optional(&f, 10, "--replay-stdin")
	g.optional(&f, 12, "--stream")
	g.optional(&f, 30, "--output-format", pick(g.chance, "text", "json", "json"))
	g.optional(&f, 25, "--result-file", pick(g.chance, resultFile, resultFile, resultFile, "no-such-directory/result.json"))
	g.optional(&f, 10, "--exit-code", "child")
	g.optional(&f, 12, "--quiet")
	g.optional(&f, 20, "--verbose")
	g.optional(&f, 5, "--log-dir", pick(g.chance, "own-logs", "none"))
	g.optional(&f, 3, "--cwd", "below")
	g.optional(&f, 8, "--reap")
	g.optional(&f, 2, "--dry-run")
	g.optional(&f, 10, "--no-gate")
	g.optional(&f, 8, "--max-parallel", "2")
	g.optional(&f, 15, "--breaker-failures", g.number(1, 2), "--breaker-open", pick(g.chance, "60s", "10s"))
	g.optional(&f, 5, "--scope", "only-one")
	g.optional(&f, 3, "--profile", pick(g.chance, "generic", "claude", "codex", "gh"))
	g.optional(&f, 1, pick(g.chance, "--no-such-flag", "--max-retries=many", "--timeout=-1", "--gate="))
	return f
}

// limits are the limits of time. An act that hangs needs one that ends it; others end long before.
func (g *generator) limits(f *[]string) {
	if g.hangs {
		switch g.IntN(4) {
		case 0, 1:
			*f = append(*f, "--timeout", "350ms")
		case 2:
			*f = append(*f, "--stall-timeout", "350ms")
		default:
			*f = append(*f, "--total-timeout", "450ms")
		}
		g.optional(f, 30, "--retry-timeouts", "1")
		return
	}
	g.optional(f, 10, "--timeout", "15s")
	g.optional(f, 8, "--stall-timeout", "15s")
	g.optional(f, 8, "--total-timeout", "15s")
	g.optional(f, 5, "--retry-timeouts", "2")
}

// config is a file of settings.
func (g *generator) config() string {
	lines := []string{"max_retries = " + g.number(0, 3)}
	if g.in(50) {
		lines = append(lines, fmt.Sprintf("base_delay = %q", "2ms"))
	}
	if g.in(30) {
		lines = append(lines, fmt.Sprintf("quiet = %v", g.in(50)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// questions are asked when everything has ended, in some of the scripts: each of them starts belayd.
func (g *generator) questions() {
	if !g.in(12) {
		return
	}
	list := [][]string{{"log", "--json"}, {"log", "--attempts", "--json"}, {"sessions", "--json"}, {"events", "--json"}, {"gates", "--json"}, {"stats", "--json"}, {"ps", "--json"}, {"audit", "--json"}}
	for range g.between(1, 2) {
		g.s.Steps = append(g.s.Steps, step{Args: pick(g.chance, list...)})
	}
}

// acts makes what a program does at its first starts.
func (g *generator) acts(one func() act) (list []act) {
	for range pick(g.chance, 1, 2, 2, 3, 4) {
		list = append(list, one())
	}
	return list
}

// ends adds how a program ends.
func (g *generator) ends(code int, signal string) op {
	if signal != "" {
		return op{Signal: strings.TrimPrefix(signal, "SIG")}
	}
	return op{Exit: number(code)}
}

// replay plays a recorded outcome.
func (g *generator) replay(program string) act {
	list := g.recorded[program]
	if len(list) == 0 {
		return act{{Out: "nothing is recorded\n"}}
	}
	o := list[g.IntN(len(list))]
	code := 1
	if o.ExitCode != nil {
		code = *o.ExitCode
	}
	return act{{Read: "all"}, {Out: o.Stdout, Err: o.Stderr}, g.ends(code, o.Signal)}
}

// hang makes an act that a limit ends, with something before it. Only some scripts have one: it takes its time.
func (g *generator) hang(before ...op) act {
	g.hangs = true
	a := act(before)
	if g.in(25) {
		a = append(act{{Trap: number(g.between(0, 3))}}, a...)
	}
	if g.in(25) {
		a = append(a, op{Spawn: pick(g.chance, "group", "session")})
	}
	return append(a, op{Hang: true})
}

const resultFile = "result.json"

// innerPause is how many milliseconds an agent waits before it tries again by itself: enough for belay to end it before.
const innerPause = 120
