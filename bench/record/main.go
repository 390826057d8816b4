// Command record measures the record: what it costs to fold a log into the database, to ask it, and how large it gets. It
// runs belay itself, as a user does, and adds up the CPU time of the processes.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	bin := flag.String("bin", "bin", "where belay and belayd are")
	runs := flag.Int("runs", 1_000_000, "how many invocations are on record")
	rounds := flag.Int("rounds", 15, "how often each question is asked")
	flag.Parse()
	dir, err := os.MkdirTemp("", "belay-bench-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	b := &bench{belay: filepath.Join(*bin, "belay"), dir: dir, next: time.Now().Add(-30 * 24 * time.Hour).UnixMilli()}
	b.step = max(1, int64(30*24*time.Hour/time.Millisecond)/int64(*runs)) // thirty days in all, the last seven of them asked for
	os.Setenv("BELAY_STATE_DIR", dir)
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "none"))

	const part = 100_000
	var folds []time.Duration
	lines := 0
	for written := 0; written < *runs; written += part {
		lines = b.write(min(part, *runs-written))
		spent := b.run("alerts", "-n", "1")
		folds = append(folds, time.Duration(float64(spent)*part/float64(lines)))
	}
	slices.Sort(folds)
	info, err := os.Stat(filepath.Join(dir, "observability.sqlite"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d invocations over 30 days; CPU time of belay and belayd together, medians\n\n", *runs)
	fmt.Printf("%-46s %12v   bar 3 s (from %v to %v)\n", "fold of 100,000 lines", folds[len(folds)/2].Round(time.Millisecond),
		folds[0].Round(time.Millisecond), folds[len(folds)-1].Round(time.Millisecond))
	fmt.Printf("%-46s %9d B   bar 1,024 B\n", "database, an invocation", info.Size()/int64(*runs))
	for _, q := range []struct{ args, bar string }{
		{"stats --since 7d", "bar 300 ms"}, {"stats", ""}, {"stats --since 7d --by model", ""}, {"log -n 50", "bar 50 ms"}, {"log -n 50 --class auth", ""},
		{"log --attempts -n 50", ""}, {"events -n 50", ""}, {"sessions -n 50", ""}, {"--version", "(belay alone)"},
	} {
		var spent []time.Duration
		for range *rounds {
			spent = append(spent, b.run(strings.Fields(q.args)...))
		}
		slices.Sort(spent)
		fmt.Printf("%-46s %12v   %s\n", "belay "+q.args, spent[len(spent)/2].Round(100*time.Microsecond), q.bar)
	}
}

type bench struct {
	belay, dir string
	next, step int64 // when the next run ends, milliseconds
	n          int
}

// run runs a command of belay and returns its CPU time.
func (b *bench) run(args ...string) time.Duration {
	cmd := exec.Command(b.belay, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatalf("belay %v: %v", args, err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// write appends the lines of runs: of a hundred 80 succeed at once, 10 after a retry, 10 fail; half are an agent's, with
// usage and sessions of five runs each.
func (b *bench) write(runs int) (lines int) {
	f, err := os.OpenFile(filepath.Join(b.dir, "log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	defer w.Flush()
	for range runs {
		b.n++
		b.next += b.step
		at := time.UnixMilli(b.next).UTC()
		id := fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", b.next>>16, b.next&0xffff, rand.IntN(1<<12), rand.IntN(1<<12), rand.Int64N(1<<48))
		agent := `"profile":"generic","command":"make"`
		more := ``
		if b.n%2 == 0 {
			agent = `"profile":"claude","command":"claude","prompt_hash":"` + fmt.Sprintf("%064x", rand.Uint64()) + `"`
			more = fmt.Sprintf(`,"session_id":"0b6d1f4e-0000-4000-8000-%012x","usage":{"input_tokens":%d,"output_tokens":%d,`+
				`"cache_read_input_tokens":1000,"cache_creation_input_tokens":0,"total_cost_usd":0.0123},"cpu_time":0.5,"model":"claude-sonnet-4-5"`,
				b.n/10, rand.IntN(10_000), rand.IntN(1000))
		}
		line := func(attempt int, rest string) {
			lines++
			fmt.Fprintf(w, `{"timestamp":"%s","invocation":"%s",%s,"attempt":%d,%s,"exit_code":0,"response_time":%.3f%s}`+"\n",
				at.Format("2006-01-02T15:04:05.000Z"), id, agent, attempt, rest, rand.Float64()*20, more)
		}
		const reset = `"error_type":"network","error":"claude failed (network): connection reset by peer while the answer was read","rule":"network"`
		switch b.n % 20 / 2 {
		case 0:
			line(1, `"status":"retry",`+reset)
			line(2, `"status":"success"`)
		case 1:
			line(1, `"status":"error","error_type":"auth","error":"Invalid API key, fix external API key","rule":"auth"`)
		default:
			line(1, `"status":"success"`)
		}
	}
	return lines
}
