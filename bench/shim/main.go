// Command shim measures how much later an SDK gets the first line of an agent through a shim: each round starts the agent as
// its SDK does, alone and by the link, in random order, so that other load on the machine affects both alike. It prints medians of the
// time to the first line and to the end. It is run in a rehearsal, which stands in for the services:
//
//	belay rehearse --script 200 -- bin/shim -say hi -last turn.completed path/of/the/cli args…
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// agent is a CLI as its SDK starts it.
type agent struct {
	name, path string
	args       []string
	say        string // on stdin
	last       string // stands in the last line of the turn
	talks      bool   // stdin stays open until then
}

func main() {
	rounds := flag.Int("rounds", 20, "how often each agent is started")
	belay := flag.String("belay", "bin/belay", "the executable that the link leads to")
	var a agent
	flag.StringVar(&a.say, "say", "", "what the CLI gets on stdin")
	flag.StringVar(&a.last, "last", "", "what stands in the last line of its turn")
	flag.BoolVar(&a.talks, "talks", false, "keep stdin open until then")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("no CLI given")
	}
	a.name, a.args = filepath.Base(flag.Arg(0)), flag.Args()[1:]
	a.say += "\n"
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if a.path, err = filepath.Abs(flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
	target, err := filepath.Abs(*belay)
	if err != nil {
		log.Fatal(err)
	}
	link := filepath.Join(dir, a.name)
	if err := os.Symlink(target, link); err != nil {
		log.Fatal(err)
	}
	os.Setenv("PATH", filepath.Dir(a.path)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	a.measure(link, *rounds)
}

// measure starts the agent by both paths, round by round.
func (a agent) measure(link string, rounds int) {
	var first, whole [2][]time.Duration
	paths := [2]string{a.path, link}
	for range rounds {
		for _, i := range rand.Perm(2) {
			f, w, err := a.start(paths[i])
			if err != nil {
				log.Fatalf("%s: %v", paths[i], err)
			}
			first[i], whole[i] = append(first[i], f), append(whole[i], w)
		}
	}
	// The difference of each round says more than that of the medians: what else the machine does changes slowly.
	var later []time.Duration
	for n := range first[0] {
		later = append(later, first[1][n]-first[0][n])
	}
	fmt.Printf("%-7s first line %8s, by the link %8s, later by %6s in the median; whole %8s, %8s\n", a.name, median(first[0]), median(first[1]), median(later),
		median(whole[0]), median(whole[1]))
}

// start starts it once and returns how long the first line and the end took.
func (a agent) start(path string) (first, whole time.Duration, err error) {
	cmd := exec.Command(path, a.args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	io.WriteString(in, a.say)
	if !a.talks {
		in.Close()
	}
	ended := false
	for lines := bufio.NewReaderSize(out, 1<<20); ; {
		line, err := lines.ReadString('\n')
		if first == 0 {
			first = time.Since(begun)
		}
		if strings.Contains(line, a.last) {
			ended = true
			in.Close()
		}
		if err != nil {
			break
		}
	}
	err = cmd.Wait()
	if err == nil && !ended {
		err = fmt.Errorf("it printed no line with %s", a.last)
	}
	return first, time.Since(begun), err
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2].Round(100 * time.Microsecond)
}
