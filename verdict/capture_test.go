package verdict_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/belay-run/belay/verdict"
)

// The model of a capture is the whole stream, cut at the end.
func TestCapture_LikeTheWholeStream(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		head, tail := rng.IntN(20), rng.IntN(20)
		c := verdict.NewCapture(head, tail)
		var stream []byte
		for range rng.IntN(30) {
			p := pattern(len(stream) + rng.IntN(50))[len(stream):]
			n, err := c.Write(p)
			if n != len(p) || err != nil {
				t.Fatalf("Write: %d, %v", n, err)
			}
			stream = append(stream, p...)
			checkExcerpt(t, fmt.Sprintf("seed %d", seed), c.Excerpt(), stream, head, tail)
		}
	}
}

func TestCapture_ExcerptIsACopy(t *testing.T) {
	c := verdict.NewCapture(2, 2)
	_, _ = c.Write([]byte("abcdef"))
	e := c.Excerpt()
	_, _ = c.Write([]byte("ghi"))
	if string(e.Head) != "ab" || string(e.Tail) != "ef" {
		t.Errorf("got %q, %q", e.Head, e.Tail)
	}
}

func TestCapture_NegativeLimitsKeepNothing(t *testing.T) {
	c := verdict.NewCapture(-1, -1)
	_, _ = c.Write([]byte("abc"))
	if e := c.Excerpt(); e.Size != 3 || len(e.Head)+len(e.Tail) != 0 || !e.Truncated() {
		t.Errorf("got %+v", e)
	}
}

func TestCapture_LineOf16MiB(t *testing.T) {
	line := pattern(16 << 20)
	for _, chunk := range []int{len(line), 32 << 10, 4093} {
		c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
		for p := line; len(p) > 0; p = p[min(chunk, len(p)):] {
			_, _ = c.Write(p[:min(chunk, len(p))])
		}
		checkExcerpt(t, fmt.Sprintf("chunks of %d", chunk), c.Excerpt(), line, verdict.DefaultHead, verdict.DefaultTail)
	}
}

func TestCapture_MemoryIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	c := verdict.NewCapture(verdict.DefaultHead, verdict.DefaultTail)
	chunk := pattern(32 << 10)
	runtime.ReadMemStats(&before)
	for range 1 << 10 { // 32 MiB
		_, _ = c.Write(chunk)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("allocated %d bytes for a stream of 32 MiB", got)
	}
}

func TestCapture_WrittenWhileRead(t *testing.T) {
	c := verdict.NewCapture(10, 10)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				_, _ = c.Write([]byte("0123456789abcdef"))
				_ = c.Excerpt().Text()
			}
		})
	}
	wg.Wait()
	if got := c.Excerpt().Size; got != 4*100*16 {
		t.Errorf("size %d", got)
	}
}
