package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/record"
)

// ContentType is the type of the text.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Text is the snapshot in Prometheus' text format. The same snapshot always gives the same text.
func (s *Snapshot) Text() []byte {
	var w writer
	w.gauge("belay_info", "The version of Belay that has written this.")
	w.sample("belay_info", 1, "version", s.Version)
	if !s.Since.IsZero() {
		w.gauge("belay_record_start_timestamp_seconds", "When the first run began that the counters count.")
		w.sample("belay_record_start_timestamp_seconds", float64(s.Since.UnixMilli())/1000)
	}
	s.counters(&w)
	s.histograms(&w)
	s.gauges(&w)
	return []byte(w.String())
}

// add adds a value under labels, which are pairs of name and value.
type add = func(value float64, labels ...string)

// counters are what is counted of meters. Labels of a counter have the same order in each sample.
var counters = []struct {
	name, help string
	of         func(m *record.Meter, add add)
}{
	{"belay_runs_total", "Runs that have ended, by the class of their result.", func(m *record.Meter, add add) {
		add(float64(m.Invocations), "profile", m.Profile, "class", m.Class)
	}},
	{"belay_attempts_total", "Attempts that have ended: processes that were started for runs.", func(m *record.Meter, add add) {
		add(float64(m.Attempts), "profile", m.Profile, "model", m.Model, "class", m.Class)
	}},
	{"belay_refusals_total", "Runs that ended without starting anything more, as at a closed gate.", func(m *record.Meter, add add) {
		add(float64(m.Refused), "profile", m.Profile, "class", m.Class)
	}},
	{"belay_requests_total", "Requests that commands have made of their services, as far as they tell.", func(m *record.Meter, add add) {
		add(float64(m.Requests), "profile", m.Profile, "model", m.Model)
	}},
	{"belay_inner_retries_total", "Retries that commands have made by themselves.", func(m *record.Meter, add add) {
		add(float64(m.InnerRetries), "profile", m.Profile, "model", m.Model)
	}},
	{"belay_wait_seconds_total", "Time spent waiting: before retries, at gates and scopes, and inside commands.", func(m *record.Meter, add add) {
		for _, w := range m.Waits() {
			add(float64(w.Milliseconds)/1000, "profile", m.Profile, "reason", w.Reason)
		}
	}},
	{"belay_tokens_total", "Tokens, as the agents report them.", func(m *record.Meter, add add) {
		add(float64(m.Usage.InputTokens), "profile", m.Profile, "model", m.Model, "type", "input")
		add(float64(m.Usage.OutputTokens), "profile", m.Profile, "model", m.Model, "type", "output")
		add(float64(m.Usage.CacheReadInputTokens), "profile", m.Profile, "model", m.Model, "type", "cache_read")
		add(float64(m.Usage.CacheCreationInputTokens), "profile", m.Profile, "model", m.Model, "type", "cache_creation")
	}},
	{"belay_cost_dollars_total", "Cost in US dollars, as far as it is known.", func(m *record.Meter, add add) {
		add(m.Cost(), "profile", m.Profile, "model", m.Model)
	}},
	{"belay_faults_total", "Failures of hooks and MCP servers.", func(m *record.Meter, add add) {
		add(float64(m.Faults), "integration", m.Profile, "class", m.Class)
	}},
}

// counters writes the counters. Those that have never counted anything are left out.
func (s *Snapshot) counters(w *writer) {
	for _, c := range counters {
		var sum samples
		for i := range s.Meters {
			c.of(&s.Meters[i], sum.add)
		}
		if sum.list == nil {
			continue
		}
		w.head(c.name, c.help, "counter")
		slices.SortFunc(sum.list, func(a, b sample) int { return slices.Compare(a.labels, b.labels) })
		for _, sample := range sum.list {
			w.sample(c.name, sample.value, sample.labels...)
		}
	}
}

// samples adds up values with the same labels.
type samples struct{ list []sample }

type sample struct {
	labels []string
	value  float64
}

func (s *samples) add(value float64, labels ...string) {
	if value == 0 {
		return
	}
	for i := range s.list {
		if slices.Equal(s.list[i].labels, labels) {
			s.list[i].value += value
			return
		}
	}
	s.list = append(s.list, sample{labels, value})
}

// histograms writes how long runs take, and how many tokens attempts use.
func (s *Snapshot) histograms(w *writer) {
	const took, tokens = "belay_run_duration_seconds", "belay_attempt_tokens"
	type histogram struct {
		labels  []string
		buckets record.Buckets
		sum     float64
	}
	var runs, sizes []*histogram
	add := func(list *[]*histogram, buckets *record.Buckets, sum float64, labels ...string) {
		if buckets.Total() == 0 {
			return
		}
		i := slices.IndexFunc(*list, func(h *histogram) bool { return slices.Equal(h.labels, labels) })
		if i < 0 {
			i = len(*list)
			*list = append(*list, &histogram{labels: labels})
		}
		h := (*list)[i]
		for b, n := range buckets {
			h.buckets[b] += n
		}
		h.sum += sum
	}
	for i := range s.Meters {
		m := &s.Meters[i]
		add(&runs, &m.Durations, float64(m.TookMS)/1000, "profile", m.Profile)
		add(&sizes, &m.InputSizes, float64(m.AllInput()), "profile", m.Profile, "type", "input")
		add(&sizes, &m.OutputSizes, float64(m.Usage.OutputTokens), "profile", m.Profile, "type", "output")
	}
	for _, kind := range []struct {
		name, help string
		bounds     []float64
		list       []*histogram
	}{{took, "How long runs have taken, waits included.", record.DurationBounds[:], runs},
		{tokens, "How many tokens attempts of agents have used. Input includes what came from the cache.", record.TokenBounds[:], sizes}} {
		if len(kind.list) == 0 {
			continue
		}
		slices.SortFunc(kind.list, func(a, b *histogram) int { return slices.Compare(a.labels, b.labels) })
		w.head(kind.name, kind.help, "histogram")
		for _, h := range kind.list {
			var n int64
			for i, count := range h.buckets {
				n += count
				le := "+Inf"
				if i < len(kind.bounds) {
					le = strconv.FormatFloat(kind.bounds[i], 'g', -1, 64)
				}
				w.sample(kind.name+"_bucket", float64(n), append(slices.Clone(h.labels), "le", le)...)
			}
			w.sample(kind.name+"_sum", h.sum, h.labels...)
			w.sample(kind.name+"_count", float64(n), h.labels...)
		}
	}
}

// gauges writes what is the case now. A gate that is healthy has no samples, nor has an account that tells nothing.
func (s *Snapshot) gauges(w *writer) {
	w.gauge("belay_active_runs", "Runs that are running or waiting now.")
	list := slices.SortedFunc(slices.Values(s.Running), func(a, b Running) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.State, b.State))
	})
	for _, r := range list {
		w.sample("belay_active_runs", float64(r.Runs), "profile", r.Profile, "state", r.State)
	}
	gates := slices.SortedFunc(slices.Values(s.Gates), func(a, b Gate) int { return cmp.Compare(a.Key, b.Key) })
	for _, g := range []struct {
		name, help string
		value      func(Gate) float64
	}{
		{"belay_gate_held", "1 for a gate that is on hold; healthy gates are left out.", func(g Gate) float64 { return number(g.Held) }},
		{"belay_gate_breaker_open", "1 for a gate whose circuit breaker is not closed.", func(g Gate) float64 { return number(g.Open) }},
		{"belay_gate_waiting_runs", "Runs that wait at a gate which is not healthy.", func(g Gate) float64 { return float64(g.Waiting) }},
	} {
		w.gauge(g.name, g.help)
		for _, one := range gates {
			w.sample(g.name, g.value(one), "gate", one.Key)
		}
	}
	for _, g := range overview.LimitGauges {
		w.gauge(g.Name, g.Help)
		for i := range s.Limits {
			if value := g.Value(&s.Limits[i]); value >= 0 {
				w.sample(g.Name, value, "account", s.Limits[i].Account, "window", s.Limits[i].Window)
			}
		}
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// writer writes the format.
type writer struct{ strings.Builder }

func (w *writer) gauge(name, help string) { w.head(name, help, "gauge") }

func (w *writer) head(name, help, kind string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// sample writes a value, with labels as pairs of name and value.
func (w *writer) sample(name string, value float64, labels ...string) {
	w.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		w.WriteByte("{,"[min(i, 1)])
		w.WriteString(labels[i] + `="` + escape(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		w.WriteByte('}')
	}
	w.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// escape makes a text safe inside quotation marks.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(text, "\uFFFD"))
}
