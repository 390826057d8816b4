// Command batch runs many short jobs through belay batch and through the tools that people use for that, in turn, and compares CPU time and
// wall time; then it measures how much memory a file with a million tasks takes, and how soon the first task starts when many results are on
// file. CPU time is that of the command with all children it waited for.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/batch"
)

// candidate is a way to run a command for each line of a file, two at a time.
type candidate struct {
	name  string
	argv  []string
	every int // it takes part in one round of so many
	cpu   []time.Duration
	wall  []time.Duration
}

func main() {
	rounds := flag.Int("rounds", 15, "how often each command is run")
	bin := flag.String("bin", "bin", "where belay is")
	jobs := flag.Int("jobs", 2000, "how many jobs a round has")
	tasks := flag.Int("tasks", 1_000_000, "how many tasks the large file has; 0 leaves it out")
	results := flag.Int("results", 100_000, "how many results are on file; 0 leaves it out")
	loop := flag.Int("loop", 0, "only run true so often, in a bare loop")
	flag.Parse()
	if *loop > 0 {
		bare(*loop)
		return
	}
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("BELAY_STATE_DIR", filepath.Join(dir, "state"))
	os.Setenv("XDG_CONFIG_HOME", dir)
	b := &bench{belay: filepath.Join(*bin, "belay"), dir: dir}
	if *rounds > 0 {
		b.compare(*rounds, *jobs)
	}
	if *tasks > 0 {
		b.memory(*tasks)
	}
	if *results > 0 {
		b.first(*results, max(3, *rounds/3))
	}
}

// bare is the floor: it starts true so often, two at a time, and keeps nothing of it.
func bare(n int) {
	var group sync.WaitGroup
	for i := range 2 {
		group.Go(func() {
			for n := range (n + i) / 2 {
				if err := exec.Command("true", strconv.Itoa(n)).Run(); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	group.Wait()
}

type bench struct{ belay, dir string }

// lines writes a file with a number on each line.
func (b *bench) lines(name string, n int) (path string) {
	path = filepath.Join(b.dir, name)
	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, "%d\n", i)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		log.Fatal(err)
	}
	return path
}

// compare runs jobs through each candidate.
func (b *bench) compare(rounds, jobs int) {
	tasks, results := b.lines("tasks", jobs), filepath.Join(b.dir, "results.jsonl")
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	shell := func(line string) []string { return []string{"sh", "-c", line, "sh", tasks} }
	candidates := []*candidate{
		{name: "xargs -P2 -n1", argv: shell(`exec xargs -P2 -n1 true <"$1"`)},
		{name: "belay batch, true {}", argv: []string{b.belay, "batch", "--quiet", "-j2", "-o", results, tasks, "--", "true", "{}"}},
		{name: "belay batch, true", argv: []string{b.belay, "batch", "--quiet", "-j2", "-o", results, tasks, "--", "true"}},
		{name: "a bare Go loop", argv: []string{self, "-loop", strconv.Itoa(jobs)}},
		{name: "parallel -j2 (GNU)", argv: shell(`exec parallel -j2 --will-cite true <"$1"`), every: 5},
	}
	if _, err := exec.LookPath("parallel"); err != nil {
		fmt.Println("left out, not installed: parallel (GNU)")
		candidates = candidates[:len(candidates)-1]
	}
	for round := range rounds {
		for _, i := range rand.Perm(len(candidates)) {
			c := candidates[i]
			if round%max(1, c.every) != 0 {
				continue
			}
			os.Remove(results)
			used := run(c.argv, 0)
			c.cpu, c.wall = append(c.cpu, used.cpu), append(c.wall, used.wall)
			if c.argv[0] == b.belay {
				b.count(results, jobs)
			}
		}
	}
	peer := candidates[0]
	fmt.Printf("%d jobs (true), two at a time: %d rounds, interleaved; ratios to xargs, medians over the rounds in which both took part\n\n", jobs, rounds)
	fmt.Printf("%-22s %12s %8s %12s %8s\n", "", "CPU a job", "ratio", "wall a job", "ratio")
	for _, c := range candidates {
		each := func(d time.Duration) time.Duration { return (d / time.Duration(jobs)).Round(time.Microsecond) }
		fmt.Printf("%-22s %12v %7.2fx %12v %7.2fx\n", c.name, each(median(c.cpu)), c.ratio(c.cpu, peer.cpu), each(median(c.wall)), c.ratio(c.wall, peer.wall))
	}
}

// ratio is the median of the ratios of the rounds in which c took part.
func (c *candidate) ratio(own, peer []time.Duration) float64 {
	var ratios []float64
	for i, d := range own {
		ratios = append(ratios, float64(d)/float64(peer[i*max(1, c.every)]))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// count makes sure that a batch has done its work.
func (b *bench) count(results string, jobs int) {
	data, err := os.ReadFile(results)
	if err != nil {
		log.Fatal(err)
	}
	if done := strings.Count(string(data), `,"state":"done",`); done != jobs {
		log.Fatalf("%d of %d jobs are done", done, jobs)
	}
	data = nil
	runtime.GC() // a child that is started by a large process counts as large
}

// memory says how much more than belay itself a batch takes that has read a large file and run a thousand of its tasks.
func (b *bench) memory(tasks int) {
	path, results := b.lines("many", tasks), filepath.Join(b.dir, "many.jsonl")
	base := run([]string{b.belay, "--version"}, 0)
	// A batch that stops at the first failure: test fails with the thousandth task.
	used := run([]string{b.belay, "batch", "--quiet", "--fail-fast", "-j2", "-o", results, path, "--", "test", "{}", "-lt", "1000"}, 1)
	fmt.Printf("\n%d tasks in the file, 1,000 of them run: %.1f MiB, which is %.1f MiB above belay --version; %v of CPU in all\n", tasks,
		float64(used.rss)/1024, float64(used.rss-base.rss)/1024, used.cpu.Round(time.Millisecond))
}

// first says how much CPU time it takes to continue a batch that has one task left.
func (b *bench) first(results, rounds int) {
	tasks := b.lines("ended", results+1)
	kept := filepath.Join(b.dir, "ended.jsonl")
	f, err := os.Create(kept)
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(f)
	answer := strings.Repeat("All work and no play makes a dull answer. ", 10)
	for i := range results {
		task := batch.Task{Prompt: strconv.Itoa(i)}
		hash := task.Hash().String()
		fmt.Fprintf(w, `{"task":"%s","hash":"%s","state":"done","cost_usd":0.01,"index":%d,"line":%d,"begun":"new","ended":"2026-11-16T20:00:00Z",`+
			`"schema_version":1,"success":true,"result":"%s"}`+"\n", hash[:12], hash, i, i+1, answer)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		log.Fatal(err)
	}
	size, err := os.Stat(kept)
	if err != nil {
		log.Fatal(err)
	}
	var cpu []time.Duration
	for range rounds {
		if err := os.Truncate(kept, size.Size()); err != nil {
			log.Fatal(err)
		}
		cpu = append(cpu, run([]string{b.belay, "batch", "--quiet", "-j2", "-o", kept, tasks, "--", "true", "{}"}, 0).cpu)
	}
	after, err := os.Stat(kept)
	if err != nil || after.Size() == size.Size() || after.Size() > size.Size()+4096 {
		log.Fatalf("not exactly one task was left: %d bytes of results became %d: %v", size.Size(), after.Size(), err)
	}
	slices.Sort(cpu)
	fmt.Printf("%d results on file (%d MiB), one task left: %v of CPU from the start to the end (from %v to %v)\n", results, size.Size()>>20,
		median(cpu).Round(time.Millisecond), cpu[0].Round(time.Millisecond), cpu[len(cpu)-1].Round(time.Millisecond))
}

// used is what a command has used.
type used struct {
	cpu, wall time.Duration
	rss       int64 // the most at a time, of one process, in KiB
}

// run runs a command, which has to end with the code.
func run(argv []string, code int) used {
	cmd := exec.Command(argv[0], argv[1:]...)
	if code == 0 {
		cmd.Stderr = os.Stderr
	}
	begin := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		log.Fatalf("%v: %v", argv, err)
	}
	return used{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: time.Since(begin),
		rss: cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss}
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
