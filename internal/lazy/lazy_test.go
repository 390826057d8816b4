package lazy

import (
	"sync"
	"testing"
)

func TestValue_IsMadeOnce(t *testing.T) {
	made := 0
	v := Value[int]{Make: func() int { made++; return 42 }}
	if made != 0 {
		t.Fatal("made before it was asked for")
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := v.Get(); got != 42 {
				t.Errorf("got %d", got)
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

func TestRegexp(t *testing.T) {
	p := Regexp(`^a+$`)
	if p.compiled != nil {
		t.Error("compiled before it was asked for")
	}
	if first := p.Get(); !first.MatchString("aaa") || p.Get() != first {
		t.Error("compiled again")
	}
}
