// Command throughput lets a child print 1 GiB through cat and through belay, in turn, and compares time and memory.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

type candidate struct {
	name string
	argv []string
	wall []time.Duration
	cpu  []time.Duration
	rss  int64 // KiB
}

func main() {
	rounds := flag.Int("rounds", 5, "how often each command is run")
	bin := flag.String("bin", "bin", "where belay is")
	size := flag.Int64("bytes", 1<<30, "how much the child prints")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("BELAY_STATE_DIR", filepath.Join(dir, "state"))
	os.Setenv("XDG_CONFIG_HOME", dir)
	belay := filepath.Join(*bin, "belay")
	child := []string{"head", "-c", strconv.FormatInt(*size, 10), "/dev/zero"}
	through := func(flags ...string) []string {
		return append(append(append([]string{belay, "run"}, flags...), "--"), child...)
	}
	candidates := []*candidate{
		{name: "child | cat", argv: []string{"sh", "-c", "head -c " + child[2] + " /dev/zero | cat"}},
		{name: "belay run", argv: through()},
		{name: "belay run --stream", argv: through("--max-retries", "1", "--stream")},
		{name: "belay run, held", argv: through("--max-retries", "1")},
		{name: "belay run -- true", argv: []string{belay, "run", "--max-retries", "1", "--", "true"}},
	}
	for range *rounds {
		for _, i := range rand.Perm(len(candidates)) {
			c := candidates[i]
			want := *size
			if c.argv[len(c.argv)-1] == "true" {
				want = 0
			}
			c.run(want)
		}
	}
	floor, base := candidates[0], candidates[4]
	fmt.Printf("\nchild printing %d MiB: %d rounds, interleaved; throughput as a ratio to cat, memory above `belay run -- true`\n\n", *size>>20, *rounds)
	fmt.Printf("%-22s %12s %8s %12s %12s\n", "", "wall median", "ratio", "CPU median", "memory")
	for _, c := range candidates[:4] {
		memory := "–"
		if c != floor {
			memory = fmt.Sprintf("%+.1f MiB", float64(c.rss-base.rss)/1024)
		}
		fmt.Printf("%-22s %12v %7.2fx %12v %12s\n", c.name, median(c.wall).Round(time.Millisecond),
			float64(median(floor.wall))/float64(median(c.wall)), median(c.cpu).Round(time.Millisecond), memory)
	}
}

func (c *candidate) run(want int64) {
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	got, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{out}, make([]byte, 1<<20))
	if err != nil || got != want {
		log.Fatalf("%s: %d bytes instead of %d: %v", c.name, got, want, err)
	}
	if err := cmd.Wait(); err != nil {
		log.Fatal(err)
	}
	c.wall = append(c.wall, time.Since(begin))
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	c.rss = max(c.rss, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
}

func median(list []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
