package telemetry

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/record"
)

// metrics are all meters of a record as cumulative sums since the time that they begin, and how limits stand now.
func (k Kinds) metrics(meters []record.Meter, limits []overview.Limit, since, now time.Time) []*metricspb.Metric {
	b := &builder{start: nano(since), now: nano(now), points: map[string]any{}}
	for i := range meters {
		m := &meters[i]
		if m.Attempts|m.Invocations|m.Refused == 0 { // of a hook or an MCP server
			b.add("belay.faults", "{fault}", "Failures of hooks and MCP servers.", float64(m.Faults), "belay.integration", m.Profile, errorType, m.Class)
			continue
		}
		failure := m.Class
		if failure == "ok" {
			failure = ""
		}
		b.add("belay.runs", "{run}", "Runs that have ended.", float64(m.Invocations), "belay.profile", m.Profile, "belay.class", m.Class, errorType, failure)
		b.add("belay.attempts", "{attempt}", "Attempts that have ended.", float64(m.Attempts), "belay.profile", m.Profile, "belay.class", m.Class, requestModel, m.Model, errorType, failure)
		b.add("belay.requests", "{request}", "Requests that commands have made of their services, as far as they tell.", float64(m.Requests), "belay.profile", m.Profile, requestModel, m.Model)
		for _, w := range m.Waits() {
			b.add("belay.wait", "s", "Time spent waiting.", float64(w.Milliseconds)/1000, "belay.profile", m.Profile, "belay.wait.reason", w.Reason)
		}
		b.add("belay.cost", "{USD}", "Cost in US dollars, as far as it is known.", m.Cost(), "belay.profile", m.Profile, requestModel, m.Model)
		if !k.Agent(m.Profile) && m.Model == "" {
			continue
		}
		by := provider(cmp.Or(k.Provider(m.Profile), m.Profile))
		b.spread("gen_ai.client.operation.duration", "s", "GenAI operation duration.", &m.Durations, float64(m.TookMS)/1000, record.DurationBounds[:],
			operationName, invokeAgent, providerName, by, agentName, m.Profile, requestModel, m.Model, responseModel, m.Model, errorType, failure)
		tokens := func(kind string, buckets *record.Buckets, sum int64) {
			b.spread("gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", buckets, float64(sum), record.TokenBounds[:],
				operationName, invokeAgent, providerName, by, agentName, m.Profile, requestModel, m.Model, responseModel, m.Model, tokenType, kind)
		}
		tokens("input", &m.InputSizes, m.AllInput())
		tokens("output", &m.OutputSizes, m.Usage.OutputTokens)
	}
	for i := range limits {
		for _, g := range overview.LimitGauges {
			if value := g.Value(&limits[i]); value >= 0 {
				b.set(g.Dotted, g.Unit, g.Help, value, "belay.gate", limits[i].Account, "belay.quota.window", limits[i].Window)
			}
		}
	}
	return b.list
}

const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

// builder makes metrics, of points with the same attributes one.
type builder struct {
	start, now uint64
	list       []*metricspb.Metric
	points     map[string]any // by name and attributes
}

// labelled are attributes of pairs of name and text, and a key that they alone have.
func labelled(name string, pairs []string) (a attributes, key string) {
	a.text(pairs...)
	return a, name + "\x00" + strings.Join(pairs, "\x00")
}

// metric is the one of that name, which begins with m.
func (b *builder) metric(m *metricspb.Metric) *metricspb.Metric {
	if i := slices.IndexFunc(b.list, func(known *metricspb.Metric) bool { return known.Name == m.Name }); i >= 0 {
		return b.list[i]
	}
	b.list = append(b.list, m)
	return m
}

// add adds to a sum.
func (b *builder) add(name, unit, description string, value float64, pairs ...string) {
	if value == 0 {
		return
	}
	a, key := labelled(name, pairs)
	if p, ok := b.points[key].(*metricspb.NumberDataPoint); ok {
		p.Value.(*metricspb.NumberDataPoint_AsDouble).AsDouble += value
		return
	}
	sum := b.metric(&metricspb.Metric{Name: name, Unit: unit, Description: description, Data: &metricspb.Metric_Sum{
		Sum: &metricspb.Sum{IsMonotonic: true, AggregationTemporality: cumulative}}}).GetSum()
	p := &metricspb.NumberDataPoint{Attributes: a, StartTimeUnixNano: b.start, TimeUnixNano: b.now, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value}}
	b.points[key] = p
	sum.DataPoints = append(sum.DataPoints, p)
}

// set adds a value that is the case now.
func (b *builder) set(name, unit, description string, value float64, pairs ...string) {
	a, _ := labelled(name, pairs)
	gauge := b.metric(&metricspb.Metric{Name: name, Unit: unit, Description: description, Data: &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{}}}).GetGauge()
	gauge.DataPoints = append(gauge.DataPoints, &metricspb.NumberDataPoint{Attributes: a, TimeUnixNano: b.now, Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value}})
}

// spread adds to a histogram.
func (b *builder) spread(name, unit, description string, buckets *record.Buckets, total float64, bounds []float64, pairs ...string) {
	if buckets.Total() == 0 {
		return
	}
	a, key := labelled(name, pairs)
	p, ok := b.points[key].(*metricspb.HistogramDataPoint)
	if !ok {
		h := b.metric(&metricspb.Metric{Name: name, Unit: unit, Description: description, Data: &metricspb.Metric_Histogram{
			Histogram: &metricspb.Histogram{AggregationTemporality: cumulative}}}).GetHistogram()
		p = &metricspb.HistogramDataPoint{Attributes: a, StartTimeUnixNano: b.start, TimeUnixNano: b.now, Sum: new(float64), BucketCounts: make([]uint64, len(buckets)), ExplicitBounds: bounds}
		b.points[key] = p
		h.DataPoints = append(h.DataPoints, p)
	}
	*p.Sum += total
	p.Count += uint64(buckets.Total())
	for i, n := range buckets {
		p.BucketCounts[i] += uint64(n)
	}
}
