// Command process compares whole commands: each round runs every one of them once, in random order, so that other load
// on the machine affects all alike. It prints medians and the ratio to the bare Go wrapper; CPU time is that of the
// command with the children it waited for. With -before it then runs pairs of belay run and of belay hook, of an older build and of this one.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type candidate struct {
	name  string
	argv  []string
	event bool // it gets a hook's event on stdin
	wall  []time.Duration
	cpu   []time.Duration
}

// event is what an agent gives a hook to read.
const event = `{"session_id":"5d4c1b9e-7c6b-4f0e-9d1a-2f3e4d5c6b7a","transcript_path":"/home/me/.claude/projects/x/5d4c1b9e.jsonl",` +
	`"cwd":"/home/me/x","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_input":{"command":"go test ./...","description":"Run the tests"},"tool_use_id":"toolu_01"}` + "\n"

// The commands that the others are compared with.
const bare, bareEvent = "bare Go wrapper", "bare Go wrapper, event"

func main() {
	rounds := flag.Int("rounds", 300, "how often each command is run")
	bin := flag.String("bin", "bin", "where belay and bare are")
	before := flag.String("before", "", "where an older belay is")
	pairs := flag.Int("pairs", 1000, "how often it is run against this one")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("BELAY_STATE_DIR", filepath.Join(dir, "state"))
	os.Setenv("XDG_CONFIG_HOME", dir)
	candidates := []*candidate{
		{name: "true", argv: []string{"true"}},
		{name: bare, argv: []string{filepath.Join(*bin, "bare"), "true"}},
		{name: "belay run", argv: []string{filepath.Join(*bin, "belay"), "run", "--", "true"}},
		{name: "belay run --timeout", argv: []string{filepath.Join(*bin, "belay"), "run", "--timeout", "60", "--", "true"}},
		{name: "belay run --max-retries", argv: []string{filepath.Join(*bin, "belay"), "run", "--max-retries", "3", "--", "true"}},
		{name: "timeout (coreutils)", argv: []string{"timeout", "60", "true"}},
		{name: "retry (Debian)", argv: []string{"retry", "true"}},
		{name: bareEvent, event: true, argv: []string{filepath.Join(*bin, "bare"), "true"}},
		{name: "belay hook", event: true, argv: []string{filepath.Join(*bin, "belay"), "hook", "--timeout", "60s", "--", "true"}},
	}
	candidates = slices.DeleteFunc(candidates, func(c *candidate) bool {
		if _, err := exec.LookPath(c.argv[0]); err != nil {
			fmt.Printf("left out, not installed: %s\n", c.name)
			return true
		}
		return false
	})
	for range *rounds {
		for _, i := range rand.Perm(len(candidates)) {
			c := candidates[i]
			begin := time.Now()
			cmd := exec.Command(c.argv[0], c.argv[1:]...)
			if c.event {
				cmd.Stdin = strings.NewReader(event)
			}
			if err := cmd.Run(); err != nil {
				log.Fatalf("%s: %v", c.name, err)
			}
			c.wall = append(c.wall, time.Since(begin))
			c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	floors := map[bool]*candidate{}
	for _, c := range candidates {
		slices.Sort(c.wall)
		slices.Sort(c.cpu)
		if c.name == bare || c.name == bareEvent {
			floors[c.event] = c
		}
	}
	fmt.Printf("%d rounds, interleaved; ratios to the bare Go wrapper, with a hook's event on stdin to the one that gets it too\n\n", *rounds)
	fmt.Printf("%-26s %12s %8s %12s %12s %8s\n", "", "CPU median", "ratio", "wall p10", "wall median", "ratio")
	for _, c := range candidates {
		n, floor := len(c.cpu), floors[c.event]
		fmt.Printf("%-26s %12v %7.2fx %12v %12v %7.2fx\n", c.name,
			c.cpu[n/2].Round(time.Microsecond), ratio(c.cpu[n/2], floor.cpu[n/2]),
			c.wall[n/10].Round(time.Microsecond), c.wall[n/2].Round(time.Microsecond), ratio(c.wall[n/2], floor.wall[n/2]))
	}
	if *before != "" {
		for _, command := range []string{"run", "hook"} {
			compare(*pairs, command, filepath.Join(*before, "belay"), filepath.Join(*bin, "belay"))
		}
	}
}

// compare runs a command of two builds in pairs, in random order within a pair, and prints the median of the ratios of their CPU time with its interval of 95 %.
func compare(pairs int, command, old, now string) {
	var ratios []float64
	for range pairs {
		cpu := map[bool]time.Duration{}
		for _, i := range rand.Perm(2) {
			cmd := exec.Command([]string{old, now}[i], command, "--", "true")
			if err := cmd.Run(); err != nil {
				log.Fatalf("%s: %v", cmd, err)
			}
			cpu[i == 1] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		ratios = append(ratios, ratio(cpu[true], cpu[false]))
	}
	slices.Sort(ratios)
	n := float64(len(ratios))
	within := int(math.Ceil(0.98 * math.Sqrt(n))) // of the middle, in ranks: those of a median have a binomial distribution
	middle := len(ratios) / 2
	fmt.Printf("\n%d pairs of belay %s, this build to the one before: CPU ratio %.3f (%.3f to %.3f)\n", len(ratios), command, ratios[middle], ratios[max(0, middle-within)], ratios[min(len(ratios)-1, middle+within)])
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
