//go:build unix

package record_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// roleVar makes the test binary another process that shares the state directory in dirVar.
const roleVar, dirVar = "DB_TEST_ROLE", "DB_TEST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(dirVar)
	switch os.Getenv(roleVar) {
	case "write":
		writeRuns(dir, os.Args[1], os.Args[2], os.Args[3])
	case "fold":
		foldForever(dir)
	default:
		debug.SetGCPercent(400) // each test opens and fills records of its own, and collecting garbage takes a seventh of the CPU
		os.Exit(m.Run())
	}
}

// writeRuns appends runs of one writer, from one number up to another: every tenth fails, every fifth is repeated first.
func writeRuns(dir, writer, from, to string) {
	first, _ := strconv.Atoi(from)
	last, _ := strconv.Atoi(to)
	log := journal.Log{Path: filepath.Join(dir, "log.jsonl")}
	random := rand.New(rand.NewPCG(uint64(first), 0))
	fmt.Println("ready")
	for n := first; n < last; n++ {
		for _, e := range linesOf(writer, n) {
			if err := log.Append(e); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		time.Sleep(faulttest.N(random, 2*time.Millisecond))
	}
}

// linesOf are the lines of a writer's n-th run.
func linesOf(writer string, n int) []journal.Entry {
	e := run(n)
	e.Invocation = fmt.Sprintf("%s-%06d", writer, n)
	e.Session = fmt.Sprintf("s%d", n%7)
	switch {
	case n%10 == 0:
		return []journal.Entry{failed(e, journal.Error, verdict.Auth, "no key")}
	case n%5 == 0:
		again := failed(e, journal.Retry, verdict.Network, "reset")
		e.Attempt = 2
		return []journal.Entry{again, e}
	}
	return []journal.Entry{e}
}

// foldForever is a reader: it opens the record, folds and asks, again and again.
func foldForever(dir string) {
	fmt.Println("ready")
	for {
		d, err := record.Open(dir)
		if err == nil {
			if _, err = d.Fold(ctx); err == nil {
				_, _, err = d.Stats.Groups(ctx, record.Filter{}, record.ByClass, time.UTC)
			}
			d.Close()
		}
		if err != nil && !database.Locked(err) {
			fmt.Fprintln(os.Stderr, "reader:", err)
			os.Exit(1)
		}
	}
}

// process is one that shares the state directory.
type process struct {
	*exec.Cmd
	out io.Reader
}

func begin(t testing.TB, dir, role string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleVar+"="+role, dirVar+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if !bufio.NewScanner(out).Scan() {
		t.Errorf("%s did not begin", role)
	}
	return &process{cmd, out}
}

// kills is how many processes are killed: half as many as elsewhere.
func kills(t *testing.T) int {
	return max(1, faulttest.Kills(t)/2)
}

const writers, readers = 16, 4

// runsEach is how many runs a writer writes: two hundred, and thirty in make test. Every tenth has an event.
func runsEach(t *testing.T) int {
	return min(200, 30*faulttest.Rounds(t))
}

// Sixteen processes write two hundred runs each while four others fold: 3,200 rows, none lost, none doubled.
func TestFold_ManyProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and kills many processes")
	}
	t.Parallel()
	w, each := newWorld(t), runsEach(t)
	var folding []*process
	for range readers {
		folding = append(folding, begin(t, w.dir, "fold"))
	}
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			p := begin(t, w.dir, "write", fmt.Sprint("w", n), "0", fmt.Sprint(each))
			if err := p.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, p := range folding {
		if p.ProcessState != nil {
			t.Errorf("a reader has ended: %v", p.ProcessState)
		}
		p.Process.Kill()
		p.Wait()
	}
	complete(t, w, each)
}

// The same while any of them is killed at any moment. A writer that was killed is followed by one that goes on behind
// what is in the log of it.
func TestFold_Killed(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and kills many processes")
	}
	t.Parallel()
	w, each := newWorld(t), runsEach(t)
	over := make(chan struct{})
	var left atomic.Int64
	left.Store(int64(kills(t)))
	var killed, killedWriters atomic.Int64
	random := faulttest.Random(t)
	var folding, writing sync.WaitGroup
	for range readers {
		folding.Go(func() {
			for {
				p := begin(t, w.dir, "fold")
				ended := make(chan error, 1)
				go func() { ended <- p.Wait() }()
				select {
				case <-over:
					p.Process.Kill()
					<-ended
					return
				case err := <-ended:
					t.Errorf("a reader has ended by itself: %v", err)
					return
				case <-time.After(faulttest.N(random, 300*time.Millisecond)):
					if left.Add(-1) < 0 {
						select {
						case <-over:
						case err := <-ended:
							t.Errorf("a reader has ended by itself: %v", err)
						}
						p.Process.Kill()
						<-ended
						return
					}
					killed.Add(1)
					p.Process.Kill()
					<-ended
				}
			}
		})
	}
	for n := range writers {
		writing.Go(func() {
			name := fmt.Sprint("w", n)
			for from := 0; from < each; from = next(t, w, name) {
				p := begin(t, w.dir, "write", name, fmt.Sprint(from), fmt.Sprint(each))
				ended := make(chan error, 1)
				go func() { ended <- p.Wait() }()
				select {
				case <-ended:
				case <-time.After(faulttest.N(random, time.Duration(each)*10*time.Millisecond)): // most of them while it writes
					if left.Add(-1) >= 0 {
						killed.Add(1)
						killedWriters.Add(1)
						p.Process.Kill()
					}
					<-ended
				}
			}
		})
	}
	writing.Wait()
	for left.Load() > 0 { // the readers go on until enough were killed
		w.append(run(900_000))
		time.Sleep(20 * time.Millisecond)
		if t.Failed() {
			break
		}
	}
	close(over)
	folding.Wait()
	t.Logf("tried %d kills of readers and writers of the record, %d of them writers; survived: every line is in it once", killed.Load(), killedWriters.Load())
	complete(t, w, each)
}

// next is the number of the run that a writer has to go on with. One whose last line is not there is written again.
func next(t *testing.T, w *world, writer string) int {
	t.Helper()
	f, err := os.Open(w.log())
	if errors.Is(err, fs.ErrNotExist) {
		return 0 // it was killed before its first line
	}
	must.OK(t, err)
	defer f.Close()
	last := -1
	for e := range journal.Read(f, nil) {
		if name, n, ok := strings.Cut(e.Invocation, "-"); ok && name == writer && e.Status != journal.Retry {
			last, _ = strconv.Atoi(n)
		}
	}
	return last + 1
}

// complete compares the database with the log and with what was to be written, so many runs of each writer.
func complete(t *testing.T, w *world, each int) {
	t.Helper()
	d, _ := w.fold()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	w.expect("ok", "PRAGMA integrity_check")
	w.expect(fmt.Sprint(writers*each), "SELECT count(*) FROM invocations WHERE id LIKE 'w%-%' AND status <> 'retry'")
	w.expect(fmt.Sprint(writers*each/10), "SELECT count(*) FROM events")
	w.expect(fmt.Sprint(writers*each/10), "SELECT count(*) FROM audit")
	// Whatever is in the log, once.
	lines, finals := map[string]int64{}, 0
	var tokens int64
	f, err := os.Open(w.log())
	must.OK(t, err)
	defer f.Close()
	for e := range journal.Read(f, nil) {
		key := fmt.Sprintf("%s/%d", e.Invocation, e.Attempt)
		if lines[key]++; lines[key] > 1 {
			continue // written again after a kill between two lines of one run
		}
		var u verdict.Usage
		json.Unmarshal(e.Usage, &u)
		tokens += u.InputTokens
		if e.Status != journal.Retry {
			finals++
		}
	}
	w.expect(fmt.Sprint(len(lines)), "SELECT count(*) FROM attempts")
	w.expect(fmt.Sprintf("%d|%d|%d", len(lines), finals, tokens), "SELECT sum(attempts), sum(ended), sum(input_tokens) FROM rollup")
	w.expect(fmt.Sprintf("%d|%d", len(lines), tokens), "SELECT sum(attempts), sum(input_tokens) FROM sessions")
	w.expect(fmt.Sprintf("%d|%d", len(lines), tokens), "SELECT sum(attempts), sum(input_tokens) FROM invocations")
}
