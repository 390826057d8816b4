// Command process compares whole commands: each round runs every one of them once, in random order, so that the noise
// of the machine falls on all alike. It prints medians and the ratio to the bare Go wrapper; CPU time is that of the
// command with the children it waited for.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

type candidate struct {
	name string
	argv []string
	wall []time.Duration
	cpu  []time.Duration
}

func main() {
	rounds := flag.Int("rounds", 300, "how often each command is run")
	bin := flag.String("bin", "bin", "where belay and bare are")
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
		{name: "bare Go wrapper", argv: []string{filepath.Join(*bin, "bare"), "true"}},
		{name: "belay run", argv: []string{filepath.Join(*bin, "belay"), "run", "--", "true"}},
		{name: "belay run --timeout", argv: []string{filepath.Join(*bin, "belay"), "run", "--timeout", "60", "--", "true"}},
		{name: "belay run --max-retries", argv: []string{filepath.Join(*bin, "belay"), "run", "--max-retries", "3", "--", "true"}},
		{name: "timeout (coreutils)", argv: []string{"timeout", "60", "true"}},
		{name: "retry (Debian)", argv: []string{"retry", "true"}},
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
			if err := cmd.Run(); err != nil {
				log.Fatalf("%s: %v", c.name, err)
			}
			c.wall = append(c.wall, time.Since(begin))
			c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	var floor *candidate
	for _, c := range candidates {
		slices.Sort(c.wall)
		slices.Sort(c.cpu)
		if c.name == "bare Go wrapper" {
			floor = c
		}
	}
	fmt.Printf("%d rounds, interleaved; ratios to the bare Go wrapper\n\n", *rounds)
	fmt.Printf("%-26s %12s %8s %12s %12s %8s\n", "", "CPU median", "ratio", "wall p10", "wall median", "ratio")
	for _, c := range candidates {
		n := len(c.cpu)
		fmt.Printf("%-26s %12v %7.2fx %12v %12v %7.2fx\n", c.name,
			c.cpu[n/2].Round(time.Microsecond), ratio(c.cpu[n/2], floor.cpu[n/2]),
			c.wall[n/10].Round(time.Microsecond), c.wall[n/2].Round(time.Microsecond), ratio(c.wall[n/2], floor.wall[n/2]))
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
