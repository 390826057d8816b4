package record

import (
	"encoding/json"
	"math"
	"time"

	"github.com/belay-run/belay/internal/journal"
)

func countIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// ms are milliseconds of seconds.
func ms(seconds float64) int64 {
	if n := math.Round(seconds * 1000); n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	return 0
}

// null is a value, or NULL for that of its type which says nothing.
func null[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func nullTime(t journal.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// nullTags are tags as JSON.
func nullTags(tags map[string]string) any { return nullJSON(tags, len(tags)) }

// tagsOf reads tags that are on record.
func tagsOf(text string) (tags map[string]string) {
	if text != "" {
		json.Unmarshal([]byte(text), &tags) // what cannot be read is none
	}
	return tags
}

// nullCheck is a check as JSON.
func nullCheck(c *journal.Check) any {
	if c == nil {
		return nil
	}
	return nullJSON(c, 1)
}

// nullList is a list as JSON.
func nullList[T any](list []T) any { return nullJSON(list, len(list)) }

func nullJSON(v any, length int) any {
	data, err := json.Marshal(v)
	if length == 0 || err != nil {
		return nil
	}
	return string(data)
}

// floorDiv rounds down, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// moment is the time that a column holds, in UTC for programs; what shows it to a user converts it to local time.
func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func timeOf(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := moment(*ms)
	return &t
}

// quarter is the length of a rollup's time, in milliseconds.
const quarter = 15 * 60 * 1000

// Time to the first token is kept as counts by size: a bucket is 9 % wider than the one before, so that a percentile is known to less than 5 %.
const firstTokenBase = 1.0905077326652577 // 2^(1/8)

// bucketOf is the bucket of a time to the first token, in milliseconds.
func bucketOf(ms int64) int {
	return int(math.Round(math.Log(float64(max(ms, 1))) / math.Log(firstTokenBase)))
}

// The names of what the table of spreads holds.
const (
	inputSizes  = "input"
	outputSizes = "output"
	durations   = "duration"
)
