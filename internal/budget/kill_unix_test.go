//go:build unix

package budget_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/test/must"
)

// dirVar makes the test binary another process, which charges a book in that directory and says so, again and again.
const dirVar = "BUDGET_TEST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(dirVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	b := budget.Files{Dir: dir}.Book("x", perDay(1e6))
	n, _ := strconv.Atoi(os.Args[1])
	for range n {
		if _, err := b.Charge(noon, budget.Charge{Spender: budget.Spender{Name: os.Args[2]}, USD: 1}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("charged")
	}
}

// charger is a process that charges a book so many times, a dollar each time.
func charger(t *testing.T, dir string, times int, name string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0], strconv.Itoa(times), name)
	cmd.Env, cmd.Stderr = append(os.Environ(), dirVar+"="+dir), os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	return cmd, bufio.NewScanner(out)
}

// Ten processes at once lose no charge.
func TestBook_Processes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []*exec.Cmd
	for n := range 10 {
		cmd, said := charger(t, dir, 20, fmt.Sprint(n))
		go func() {
			for said.Scan() {
			}
		}()
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	b := budget.Files{Dir: dir}.Book("x", nil)
	if s := check(t, b, noon); s.Spent != 200 {
		t.Errorf("spent %v", s.Spent)
	}
	if shares, _ := b.Shares(noon); len(shares) != 10 || shares[9].Spent != 20 {
		t.Errorf("%+v", shares)
	}
}

// A process that is killed at any moment loses at most the charge that it was making, and leaves nothing half written.
func TestBook_Killed(t *testing.T) {
	t.Parallel()
	kills := faulttest.Kills(t)
	dir := t.TempDir()
	b := budget.Files{Dir: dir}.Book("x", nil)
	told, random := 0, faulttest.Random(t)
	for n := range kills {
		cmd, said := charger(t, dir, 1_000_000, fmt.Sprint(n%5))
		said.Scan()
		time.AfterFunc(faulttest.N(random, 8*time.Millisecond), func() { cmd.Process.Kill() })
		told++
		for said.Scan() {
			told++
		}
		cmd.Wait()
		if s := check(t, b, noon); int(s.Spent) < told || int(s.Spent) > told+n+1 {
			t.Fatalf("%v is in the book, %d were charged by %d processes", s.Spent, told, n+1)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.damaged")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	files, _ := os.ReadDir(dir)
	if len(files) > 3 { // the book, its lock, and what a killed process was writing
		t.Errorf("left: %v", files)
	}
	t.Logf("%d charges, %d processes killed", told, kills)
}
