package retry_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

const most = time.Duration(math.MaxInt64)

func TestJitter_Apply(t *testing.T) {
	for _, c := range []struct {
		jitter retry.Jitter
		want   []time.Duration // of 8 s at r = 0, 0.25, 0.5, 1
	}{
		{retry.Jitter{}, seconds(0, 2, 4, 8)},
		{retry.Full, seconds(0, 2, 4, 8)},
		{retry.NoJitter, seconds(8, 8, 8, 8)},
		{retry.Proportional(0.25), seconds(6, 7, 8, 10)},
		{retry.Proportional(1), seconds(0, 4, 8, 16)},
		{retry.Additive(0.25), seconds(8, 8.5, 9, 10)},
		{retry.Plus(time.Second), seconds(8, 8.25, 8.5, 9)},
	} {
		t.Run(c.jitter.String(), func(t *testing.T) {
			for i, r := range []float64{0, 0.25, 0.5, 1} {
				equal(t, "delay", c.jitter.Apply(8*time.Second, r), c.want[i])
			}
			equal(t, "negative r", c.jitter.Apply(8*time.Second, -5), c.want[0])
			equal(t, "NaN r", c.jitter.Apply(8*time.Second, math.NaN()), c.want[0])
			equal(t, "large r", c.jitter.Apply(8*time.Second, 5), c.want[3])
			equal(t, "negative delay", c.jitter.Apply(-time.Hour, 0), 0)
		})
	}
}

func TestJitter_ApplyDoesNotOverflow(t *testing.T) {
	for _, j := range []retry.Jitter{
		retry.Full, retry.NoJitter, retry.Proportional(1), retry.Additive(1), retry.Additive(math.MaxFloat64), retry.Plus(most),
	} {
		for _, d := range []time.Duration{0, 1, time.Hour, most - 1, most} {
			for _, r := range []float64{0, math.SmallestNonzeroFloat64, 0.5, math.Nextafter(1, 0), 1} {
				if got := j.Apply(d, r); got < 0 {
					t.Errorf("%v of %v at %v is %v", j, d, r, got)
				}
			}
		}
	}
	equal(t, "sum", retry.Plus(most).Apply(most, 1), most)
}

// What Validate refuses counts as not set, which for jitter means Full.
func TestJitter_ApplyOfNonsense(t *testing.T) {
	for _, j := range []retry.Jitter{retry.Proportional(-2), retry.Proportional(math.NaN()), retry.Additive(math.Inf(1)), retry.Plus(-most)} {
		equal(t, "delay", j.Apply(8*time.Second, 0.5), 4*time.Second)
	}
}

// Scenario 070 of seed 000: the same inputs give different delays, all within ±20 %.
func TestJitter_ProportionalBounds(t *testing.T) {
	seen, random := map[time.Duration]bool{}, rand.New(rand.NewPCG(70, 0))
	for range 1000 {
		d := retry.Proportional(0.2).Apply(10*time.Second, random.Float64())
		if d < 8*time.Second || d > 12*time.Second {
			t.Fatalf("%v is not within ±20 %% of 10s", d)
		}
		seen[d] = true
	}
	if len(seen) < 900 {
		t.Errorf("%d different delays of 1000", len(seen))
	}
}

func TestParseJitter(t *testing.T) {
	for _, c := range []struct {
		in   string
		want retry.Jitter
		out  string
	}{
		{"full", retry.Full, "full"},
		{"none", retry.NoJitter, "none"},
		{"proportional:0.2", retry.Proportional(0.2), "proportional:0.2"},
		{"proportional:1", retry.Proportional(1), "proportional:1"},
		{"additive:.25", retry.Additive(0.25), "additive:0.25"},
		{"plus:1s", retry.Plus(time.Second), "plus:1s"},
		{"plus:1", retry.Plus(time.Second), "plus:1s"},
		{"plus:0.1", retry.Plus(100 * time.Millisecond), "plus:100ms"},
		{"plus:0", retry.Plus(0), "plus:0s"},
		{"plus:1m30s", retry.Plus(90 * time.Second), "plus:1m30s"},
	} {
		t.Run(c.in, func(t *testing.T) {
			j, err := retry.ParseJitter(c.in)
			must.OK(t, err)
			equal(t, "jitter", j, c.want)
			equal(t, "text", j.String(), c.out)
		})
	}
}

func TestParseJitter_Errors(t *testing.T) {
	const kinds = "want full, none, proportional:0.2, additive:0.25 or plus:1s"
	for in, want := range map[string]string{
		"":                  `jitter "": ` + kinds,
		"Full":              `jitter "Full": ` + kinds,
		"equal":             `jitter "equal": ` + kinds,
		"0.2":               `jitter "0.2": ` + kinds,
		"full:1":            `jitter "full:1": full takes no value`,
		"none:":             `jitter "none:": none takes no value`,
		"proportional":      `jitter "proportional": want a value, as in proportional:0.2`,
		"proportional:20%":  `jitter "proportional:20%": want a value, as in proportional:0.2`,
		"proportional:1.01": `jitter "proportional:1.01": the fraction is not between 0 and 1`,
		"proportional:nan":  `jitter "proportional:nan": the fraction is not between 0 and 1`,
		"additive:":         `jitter "additive:": want a value, as in additive:0.25`,
		"additive:-0.1":     `jitter "additive:-0.1": the fraction is not a number of at least 0`,
		"additive:inf":      `jitter "additive:inf": the fraction is not a number of at least 0`,
		"plus":              `jitter "plus": want a value, as in plus:1s`,
		"plus:soon":         `jitter "plus:soon": want a value, as in plus:1s`,
		"plus:-1s":          `jitter "plus:-1s": not a duration of at least 0`,
		"plus:1e300":        `jitter "plus:1e300": not a duration of at least 0`,
	} {
		if j, err := retry.ParseJitter(in); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, %v, want %s", in, j, err, want)
		}
	}
}

func FuzzParseJitter(f *testing.F) {
	for _, s := range []string{
		"full", "none", "proportional:0.2", "additive:0.25", "plus:1s", "plus:1", "plus:9223372036854775807ns", "plus:9223372036.9",
		"additive:1e308", "proportional:-0", "proportional:0x1p-2", "plus:-0", "plus:nan", "full:", "plus::", ":", "additive:1_0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j, err := retry.ParseJitter(s)
		if err != nil {
			equal(t, "with an error", j, retry.Jitter{})
			return
		}
		equal(t, "valid", retry.Policy{Jitter: j}.Validate(), nil)
		again, err := retry.ParseJitter(j.String())
		if err != nil || again != j {
			t.Errorf("%q is %v, but that is %v, %v", s, j, again, err)
		}
		for _, d := range []time.Duration{0, time.Second, most} {
			if got := j.Apply(d, 0.7); got < 0 {
				t.Errorf("%v of %v is %v", j, d, got)
			}
		}
	})
}
