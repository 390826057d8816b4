package claude

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/agenttest"
)

// What each version tells of the limits of a plan, as it was seen, and what could come in its place.
func TestFollow_Quota(t *testing.T) {
	const at = `"resetsAt":1794944280`
	for name, tt := range map[string]struct{ info, want string }{
		"2.1.325, a good day": {`"status":"allowed","resetsAt":1794944280,"rateLimitType":"five_hour","overageStatus":"rejected","isUsingOverage":false,
			"unifiedWindows":{"five_hour":{"utilization":0.42,"resetsAt":1794944280,"status":"allowed"},"seven_day":{"utilization":0.17,"resetsAt":1795337080,"status":"allowed"}}`,
			"five_hour 42% 1794944280, seven_day 17% 1795337080"},
		"of one model": {`"status":"allowed","unifiedWindows":{"seven_day_opus":{"utilization":0.9,` + at + `},"seven_day_sonnet":{"utilization":0.1,` + at + `},
			"seven_day_overage_included":{"utilization":0.2,` + at + `},"overage":{"utilization":0.3,` + at + `}}`,
			"overage 30% 1794944280, seven_day_opus 90% 1794944280 opus, seven_day_overage_included 20% 1794944280, seven_day_sonnet 10% 1794944280 sonnet"},
		"a warning, without windows": {`"status":"allowed_warning",` + at + `,"rateLimitType":"five_hour","utilization":0.91,"surpassedThreshold":0.9`, "five_hour 91% 1794944280"},
		"2.1.197, the status alone":  {`"status":"allowed"`, ""},
		"no share":                   {`"status":"allowed",` + at + `,"rateLimitType":"five_hour"`, ""},
		"refused, without a share":   {`"status":"rejected",` + at + `,"rateLimitType":"seven_day_opus"`, "seven_day_opus 100% 1794944280 opus"},
		"refused, below the limit":   {`"status":"rejected",` + at + `,"rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":0.98}}`, "five_hour 100% 1794944280"},
		"refused, beyond the limit":  {`"status":"rejected",` + at + `,"rateLimitType":"five_hour","utilization":1.07`, "five_hour 107% 1794944280"},
		"2.1.325, a throttle":        {`"status":"rejected",` + at + `,"rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":0.42,"status":"allowed",` + at + `}}`, "five_hour 42% 1794944280"},
		"a throttle":                 {`"status":"rejected","rateLimitType":"five_hour"`, ""},
		"one window is, requests go": {`"status":"allowed","rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":0.99,"status":"rejected",` + at + `}}`, "five_hour 99% 1794944280"},
		"numbers as text":            {`"status":"allowed","unifiedWindows":{"five_hour":{"utilization":"0.42",` + at + `},"seven_day":{"utilization":0.2,"resetsAt":"1794944280"}}`, ""},
		"milliseconds, and below 0":  {`"status":"allowed","unifiedWindows":{"five_hour":{"utilization":0.4,"resetsAt":1794944280000},"seven_day":{"utilization":-0.2,` + at + `}}`, ""},
		"not even numbers":           {`"status":7,"utilization":{},"resetsAt":[],"unifiedWindows":{"five_hour":true,"seven_day":{"utilization":1e999,` + at + `},"x":null}`, ""},
		"another shape":              {`"status":"allowed","unifiedWindows":[1]`, ""},
	} {
		event := `"type":"rate_limit_event","rate_limit_info":{` + tt.info + `}`
		for args, text := range map[string]string{"-p hi": line(event), "-p --input-format stream-json --output-format stream-json --verbose": line(event),
			"-p hi --output-format json --verbose": "[" + line(event) + "]"} {
			told := play(t, args).Line(agent.Line{Text: []byte(strings.TrimSpace(text))}).Quota
			if got := agenttest.Windows(told); got != tt.want {
				t.Errorf("%s, %s: %s\nwant %s", name, args, got, tt.want)
			}
			agenttest.Credible(t, told)
		}
	}
}
