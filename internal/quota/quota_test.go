package quota

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func fiveHour(used float64, resets time.Time) []Window {
	return []Window{{Name: "five_hour", Used: used, Resets: resets}}
}

// What counts is what was told last, in whichever order it arrives, also where two keep what they hear by themselves and meet later.
func TestTell_AnyOrder(t *testing.T) {
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 42))
		type news struct {
			at time.Time
			by string
			w  []Window
		}
		var all []news
		for i := range 2 + r.IntN(30) {
			all = append(all, news{noon.Add(time.Duration(i) * time.Duration(1+r.IntN(8)) * time.Minute), string(rune('a' + i)), fiveHour(float64(i)/20, noon.Add(5*time.Hour+time.Duration(r.IntN(3))*time.Second))})
		}
		newest := slices.MaxFunc(all, func(a, b news) int { return a.at.Compare(b.at) })
		end := newest.at.Add(time.Minute)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var here, there Quota
		for _, n := range all {
			if r.IntN(2) == 0 {
				here = here.Tell(end, n.at, n.by, n.w)
			} else {
				there = there.Tell(end, n.at, n.by, n.w)
			}
		}
		both, other := Merge(here, there), Merge(there, here)
		if !reflect.DeepEqual(both, other) || len(both) != 1 {
			t.Fatalf("seed %d: it matters who comes first: %+v, %+v", seed, both, other)
		}
		if w := both[0]; !w.Told.Equal(newest.at) || len(w.Trail) > 13 {
			t.Fatalf("seed %d: %+v, but the newest is %+v", seed, w, newest)
		}
	}
}

func TestQuota_At(t *testing.T) {
	with := func(change func(*Window)) Window {
		w := Window{Name: "five_hour", Used: 0.5, Resets: noon.Add(time.Hour), Told: noon.Add(-time.Minute)}
		change(&w)
		return w
	}
	for name, c := range map[string]struct {
		w     Window
		known bool
	}{
		"told a minute ago":       {with(func(*Window) {}), true},
		"above its cap":           {with(func(w *Window) { w.Used = 1.4 }), true},
		"has begun anew":          {with(func(w *Window) { w.Resets = noon }), false},
		"told after the clock":    {with(func(w *Window) { w.Told = noon.Add(time.Hour) }), false},
		"a clock a little behind": {with(func(w *Window) { w.Told = noon.Add(10 * time.Second) }), true},
		"ends in years":           {with(func(w *Window) { w.Resets = noon.AddDate(3, 0, 0) }), false},
		"not a number":            {with(func(w *Window) { w.Used = math.NaN() }), false},
		"less than nothing":       {with(func(w *Window) { w.Used = -0.1 }), false},
		"absurd":                  {with(func(w *Window) { w.Used = 1e300 }), false},
		"nameless":                {with(func(w *Window) { w.Name = "" }), false},
		"a name of two lines":     {with(func(w *Window) { w.Name = "five\nhour" }), false},
		"a model without end":     {with(func(w *Window) { w.Model = strings.Repeat("opus", 1000) }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if q := (Quota{c.w}); (len(q.At(noon)) == 1) != c.known {
				t.Errorf("known: %v", !c.known)
			}
			if reached := (Reserve{"": 0.6}).Reached(Quota{c.w}, noon, "opus"); (reached != nil) != c.known {
				t.Errorf("reached: %+v", reached)
			}
		})
	}
}

// What a record has told a while ago is not newer than what was told since, and nothing was told after it was read.
func TestTell_FromARecord(t *testing.T) {
	told := func(used float64, at time.Time) []Window {
		news := fiveHour(used, noon.Add(time.Hour))
		news[0].Told = at
		return news
	}
	q := Quota{}.Tell(noon, noon.Add(-time.Minute), "a", fiveHour(0.5, noon.Add(time.Hour)))
	if q = q.Tell(noon, noon, "b", told(0.2, noon.Add(-2*time.Minute))); q[0].By != "a" || q[0].Used != 0.5 {
		t.Errorf("older news: %+v", q)
	}
	if q = q.Tell(noon, noon, "b", told(0.6, noon.Add(2*time.Hour))); q[0].By != "b" || !q[0].Told.Equal(noon) {
		t.Errorf("from the future: %+v", q)
	}
}

// A clock that is set back does not make old news count for ever.
func TestTell_ClockSetBack(t *testing.T) {
	q := Quota{}.Tell(noon, noon, "a", fiveHour(0.9, noon.Add(time.Hour)))
	before := noon.Add(-time.Hour)
	if len(q.At(before)) > 0 {
		t.Error("what will be told is known")
	}
	if q = q.Tell(before, before, "b", fiveHour(0.1, noon.Add(time.Hour))); q[0].By != "b" {
		t.Errorf("%+v", q)
	}
}

func TestWindow_Forecast(t *testing.T) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	resets := at(120)
	tell := func(minutes []int, used ...float64) (q Quota) {
		for i, m := range minutes {
			q = q.Tell(at(m), at(m), "a", fiveHour(used[i], resets))
		}
		return q
	}
	for name, c := range map[string]struct {
		q     Quota
		now   int
		share float64
		full  time.Time
		ok    bool
	}{
		"told once":                 {tell([]int{0}, 0.5), 1, 0, time.Time{}, false},
		"too soon":                  {tell([]int{0, 1}, 0.5, 0.6), 1, 0, time.Time{}, false},
		"it will do":                {tell([]int{0, 30}, 0.1, 0.2), 30, 0.5, time.Time{}, true},
		"it will be full":           {tell([]int{0, 30, 60}, 0, 0.3, 0.6), 60, 1.2, at(100), true},
		"only the last hour counts": {tell([]int{-120, -30, 0, 30}, 0, 0.5, 0.55, 0.6), 30, 0.75, time.Time{}, true},
		"an hour without news":      {tell([]int{-40, -30}, 0.1, 0.2), 31, 0, time.Time{}, false},
		"full already":              {tell([]int{0, 60}, 0.6, 1.1), 60, 1.6, at(60), true},
	} {
		t.Run(name, func(t *testing.T) {
			share, full, ok := c.q[0].Forecast(at(c.now))
			if ok != c.ok || math.Abs(share-c.share) > 1e-9 || full.Sub(c.full).Abs() > time.Millisecond {
				t.Errorf("%v, %v, %v; the trail is %v", share, full, ok, c.q[0].Trail)
			}
		})
	}
	q := tell([]int{0, 30}, 0.1, 0.2).Tell(at(60), at(60), "a", fiveHour(0, at(360)))
	if _, _, ok := q[0].Forecast(at(60)); ok {
		t.Error("the pace of a window that is over counts")
	}
}

func TestReserve(t *testing.T) {
	q := Quota{}.Tell(noon, noon, "a", []Window{
		{Name: "five_hour", Used: 0.7, Resets: noon.Add(time.Hour)}, {Name: "seven_day", Used: 0.85, Resets: noon.Add(50 * time.Hour)},
		{Name: "seven_day_opus", Model: "opus", Used: 0.95, Resets: noon.Add(60 * time.Hour)}, {Name: "overage", Used: 1, Resets: noon.Add(70 * time.Hour)}})
	for _, c := range []struct{ text, model, window string }{
		{"20%", "claude-sonnet-5", "seven_day"}, {"20%", "claude-opus-5", "seven_day_opus"}, {"20%", "", "seven_day"}, {"15%", "sonnet", ""}, {"6%", "Opus[1m]", "seven_day_opus"},
		{"five_hour=20%", "opus", ""}, {"5h=31%", "opus", "five_hour"}, {"seven_day=16%, 5h=50%", "", "seven_day"}, {"0%", "opus", ""}, {"40%,seven_day=1%", "", "five_hour"}, {"seven_day_opus=10%", "", ""},
	} {
		r, err := ParseReserve(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if w := r.Reached(q, noon, c.model); w != nil {
			got = w.Name
		}
		if got != c.window {
			t.Errorf("%s with %q: %q, not %q", c.text, c.model, got, c.window)
		}
	}
	for _, text := range []string{"", "20", "100%", "-1%", "x", "NaN%", "five_hours=20%", "=20%", "5h=", "20%,", "a b=3%"} {
		if r, err := ParseReserve(text); err == nil {
			t.Errorf("%q means %v", text, r)
		}
	}
	if both := (Reserve{"": 0.2}).And(Reserve{"five_hour": 0.1, "seven_day": 0.3}); both.of("five_hour") != 0.2 || both.of("seven_day") != 0.3 || both.of("x") != 0.2 {
		t.Errorf("%v", both)
	}
}

func FuzzQuota(f *testing.F) {
	f.Add([]byte(`[{"name":"five_hour","used":0.5,"resets":"2026-11-17T13:00:00Z","told":"2026-11-17T11:59:00Z","trail":[{"at":"2026-11-17T11:00:00Z","used":0.1}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var q Quota
		if json.Unmarshal(data, &q) != nil {
			return
		}
		told := q.Tell(noon, noon, "b", fiveHour(0.3, noon.Add(time.Hour)))
		if len(told) > most || len(told) == 0 || len(told.At(noon)) == 0 {
			t.Fatalf("%+v", told)
		}
		for _, w := range told {
			if share, full, ok := w.Forecast(noon); ok && (math.IsNaN(share) || share < 0 || full.After(w.Resets)) {
				t.Errorf("%v, %v of %+v", share, full, w)
			}
		}
		if !Same(told.Shifted(time.Hour).Shifted(-time.Hour), told) {
			t.Error("another clock shows something else")
		}
		(Reserve{"": 0.2}).Reached(told, noon, "opus")
	})
}
