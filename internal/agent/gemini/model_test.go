package gemini

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

// Gemini names the model that it asks at its start, and in its result those that have answered. One that is asked on the side is not another model.
func TestFollow_Models(t *testing.T) {
	const pro, flash = "gemini-2.5-pro", "gemini-2.5-flash"
	for name, tt := range map[string]struct {
		begun string
		used  string // the names in the result
		other bool
	}{
		"Asked":    {pro, `"gemini-2.5-pro":{}`, false},
		"Released": {pro, `"gemini-2.5-pro-preview-06-05":{}`, false},
		"Another":  {pro, `"gemini-2.5-flash":{}`, true},
		"Aside":    {pro, `"gemini-2.5-pro":{},"gemini-2.5-flash-lite":{}`, false},
		"Routed":   {"auto", `"gemini-2.5-flash":{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := followed(t, "-p hi -o stream-json", strings.Replace(begins, flash, tt.begun, 1), says("Hi."))
			use := f.Line(agent.Line{Text: []byte(event1("result", `"status":"success","stats":{"models":{`+tt.used+`}}`))}).Models
			if use.Begun != tt.begun || use.Other(use.Begun) != tt.other {
				t.Errorf("%+v", use)
			}
		})
	}
}
