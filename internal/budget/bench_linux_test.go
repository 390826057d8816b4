package budget_test

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/test/must"
)

// cpu is the CPU time that this thread has used, in nanoseconds.
func cpu(b *testing.B) int64 {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	must.OK(b, syscall.Getrusage(thread, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

// BenchmarkBook_Check must take 30 µs at most: every start of an agent, and every model turn, pays for it.
func BenchmarkBook_Check(b *testing.B) {
	book := budget.Files{Dir: b.TempDir()}.Book("x", &budget.Terms{Limit: 100, Window: budget.Month})
	for n := range 31 {
		for who := range 10 {
			spender := budget.Spender{Profile: "claude", Project: fmt.Sprintf("/home/user/src/project-%d", who)}
			if _, err := book.Charge(noon.AddDate(0, 0, n-15), budget.Charge{Spender: spender, USD: 0.123456789}); err != nil {
				b.Fatal(err)
			}
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := cpu(b)
	for b.Loop() {
		if s, err := book.Check(noon); err != nil || s.Spent == 0 {
			b.Fatal(s, err)
		}
	}
	b.ReportMetric(float64(cpu(b)-begun)/1e3/float64(b.N), "cpu-µs/op")
}

func BenchmarkBook_Charge(b *testing.B) {
	book := budget.Files{Dir: b.TempDir()}.Book("x", perDay(1e9))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := cpu(b)
	for b.Loop() {
		if _, err := book.Charge(noon, budget.Charge{Spender: claude, USD: 0.1}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(b)-begun)/1e3/float64(b.N), "cpu-µs/op")
}
