// Command shim measures how much later an SDK gets the first line of an agent through a shim: each round starts the agent as
// its SDK does, alone and by the link, in random order, so that other load on the machine affects both alike. It prints medians of the
// time to the first line and to the end. It is run in a rehearsal, which stands in for the services:
//
//	belay rehearse --script 200 -- bin/shim
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
	name string
	args []string
	say  string // on stdin
	last string // stands in the last line of the turn
}

var agents = []agent{
	{"claude", []string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"},
		`{"type":"user","message":{"role":"user","content":"say hi"},"parent_tool_use_id":null}` + "\n", `"type":"result"`},
	{"codex", []string{"exec", "--experimental-json", "--sandbox", "danger-full-access", "--skip-git-repo-check"}, "say hi", `"type":"turn.completed"`},
}

func main() {
	rounds := flag.Int("rounds", 20, "how often each agent is started")
	belay := flag.String("belay", "bin/belay", "the executable that the links lead to")
	clis := flag.String("clis", ".clis", "where the CLIs are, in directories like claude-2.1.325")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, a := range agents {
		found, _ := filepath.Glob(filepath.Join(*clis, a.name+"-*", a.name))
		if len(found) == 0 {
			fmt.Printf("left out, not installed: %s\n", a.name)
			continue
		}
		slices.Sort(found)
		direct, _ := filepath.Abs(found[len(found)-1])
		target, _ := filepath.Abs(*belay)
		link := filepath.Join(dir, a.name)
		if err := os.Symlink(target, link); err != nil {
			log.Fatal(err)
		}
		os.Setenv("PATH", filepath.Dir(direct)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		a.measure(direct, link, *rounds)
	}
}

// measure starts the agent by both paths, round by round.
func (a agent) measure(direct, link string, rounds int) {
	var first, whole [2][]time.Duration
	paths := [2]string{direct, link}
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
	if a.name != "claude" {
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
