package rehearse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Script says how requests are answered, one after another. After its end every request is answered well.
type Script struct {
	Steps []Step
	// PerSession lets each session of an agent begin the script anew; else all requests share it.
	PerSession bool
	// Strict lets the services refuse a request whose history the real ones refuse: a call of a tool without its result, an image that is too large.
	Strict bool
}

// Step is how one request is answered. The zero value is a good answer.
type Step struct {
	// Source is the step as it was written, without its repetition.
	Source string
	// Times is how many requests it answers; 0 means all that come.
	Times int

	// Before is what happens instead of an answer.
	Before Fault
	// For is how long [Refuse] lasts; 0 means to the end.
	For time.Duration

	// After is how long it takes before the first byte, Over how long the answer takes from there.
	After, Over time.Duration
	// Status is the HTTP status; 0 means 200.
	Status int
	// Header are headers of the answer, over what the stand-in sends by itself. RetryAfter is one that depends on the
	// time of the answer, where it is a date.
	Header     http.Header
	RetryAfter RetryAfter
	// Body, if not nil, is the whole body.
	Body *string
	// Type, Code and Message are parts of an error's body, for an error or a [CutError]; empty ones are as the vendor
	// has them for the status.
	Type, Code, Message string

	// Text is what the model says; empty means [DefaultText]. Stop is why it stopped, in the vendor's words.
	// Model is the one that answers; empty means the one that was asked.
	Text, Stop, Model string
	// Tool is a tool that the model calls, with ToolInput: the command for bash, else the arguments as JSON.
	// Calls is how often it does that in the one answer; 0 means once.
	Tool, ToolInput string
	Calls           int
	// Poison makes of the call one for which a strict service refuses the history from then on: poisonOrphan or poisonImage.
	Poison string
	// Usage is what is charged; fields that are negative are the default.
	Usage Usage
	// Cut ends the answer before its end, at At. Ping is how often a [CutHang] sends a sign of life; 0 means never.
	Cut  Cut
	At   Place
	Ping time.Duration

	// UsageLimit is a plan whose window is used up: until Resets from now.
	UsageLimit bool
	Resets     time.Duration
	Window     string
	Plan       string
	// Windows are limits of the account that the request uses.
	Windows []Window
	// Limit is one of GitHub's: "primary", which resets after Resets, or "secondary".
	Limit string
	// Overloaded is an error in the vendor's form for being at capacity.
	Overloaded bool

	// Rate and Mix answer all the requests that come to this step, each in its own way.
	Rate *Rate
	Mix  *Mix
}

// DefaultText is what the model says if the script does not.
const DefaultText = "This is a rehearsal."

// Usage are tokens, as the vendors count them.
type Usage struct {
	Input       int `json:"input_tokens"`
	Output      int `json:"output_tokens"`
	CacheRead   int `json:"cache_read_input_tokens"`
	CacheCreate int `json:"cache_creation_input_tokens"`
}

// Fault is what happens to a request instead of an answer.
type Fault int

const (
	// NoFault answers it.
	NoFault Fault = iota
	// Hang takes it and says nothing.
	Hang
	// Reset resets the connection without an answer.
	Reset
	// Refuse stops listening: connections are refused.
	Refuse
	// Garbage answers 200 with something that is not an answer.
	Garbage
	// Lost does what was asked, and resets the connection without an answer, or answers with the step's Status.
	Lost
)

// Cut is what ends an answer too early.
type Cut string

// The ways to end an answer early.
const (
	CutNone       Cut = ""
	CutDrop       Cut = "drop"       // the connection is reset
	CutEnd        Cut = "end"        // the stream ends in good order, but unfinished
	CutHang       Cut = "hang"       // nothing more comes
	CutGarbage    Cut = "garbage"    // something comes that is no event, and the end
	CutOverloaded Cut = "overloaded" // the vendor says in the stream that it is at capacity
	CutError      Cut = "error"      // the vendor says another error in the stream: see Step.Type
)

// Place is where an answer is cut.
type Place string

// The places to cut.
const (
	InText     Place = "text"  // in the middle of a block; the default
	AtStart    Place = "start" // before the first block
	AfterBlock Place = "block" // after a whole block
)

// RetryAfter is the header of that name: seconds, a date, or what was written.
type RetryAfter struct {
	Seconds string // as it stands in the header
	Date    bool   // In from now, as an HTTP date
	In      time.Duration
}

// Rate lets so many requests through in each window and throttles the others.
type Rate struct {
	Requests int
	Window   time.Duration
	// RetryAfter is how a throttled request is told when to come back: "seconds", "date" or "none".
	RetryAfter string
}

// Mix answers with one of Faults now and then.
type Mix struct {
	Share  float64 // of the requests, 0 to 1
	Seed   uint64
	Faults []Step
	of     string // Faults as they were written
}

// cursor walks through a script: each main request takes the next step, whichever process sends it.
type cursor struct {
	mu     sync.Mutex
	script *Script
	index  int // the step that answers next
	used   int // how many it has answered

	window time.Time // Rate: when the window began
	inside int       // and how many it has let through
	random *rand.Rand
}

// next returns the step for a request that comes now, and what to call it in the report.
func (c *cursor) next(now time.Time) (Step, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index >= len(c.script.Steps) {
		return Step{Usage: Usage{-1, -1, -1, -1}}, "200 (after the script)"
	}
	step := c.script.Steps[c.index]
	switch {
	case step.Rate != nil:
		return c.throttle(step, now)
	case step.Mix != nil:
		return c.mix(step)
	case step.Before == Refuse:
		return step, step.Source // over when its time is, see skip
	}
	c.used++
	if step.Times > 0 && c.used >= step.Times {
		c.index, c.used = c.index+1, 0
	}
	return step, step.Source
}

// refusing returns the step if it is one that refuses connections.
func (c *cursor) refusing() (Step, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.index >= len(c.script.Steps) || c.script.Steps[c.index].Before != Refuse {
		return Step{}, false
	}
	return c.script.Steps[c.index], true
}

// skip goes on after a step that no request answers to.
func (c *cursor) skip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.index, c.used = c.index+1, 0
}

// throttle counts requests in windows that follow each other from the first request on.
func (c *cursor) throttle(step Step, now time.Time) (Step, string) {
	rate := step.Rate
	if c.window.IsZero() {
		c.window = now
	}
	if over := now.Sub(c.window); over >= rate.Window {
		c.window = c.window.Add(over.Truncate(rate.Window))
		c.inside = 0
	}
	step.Rate = nil
	if c.inside < rate.Requests {
		c.inside++
		return step, fmt.Sprintf("200 (%d of %d)", c.inside, rate.Requests)
	}
	left := c.window.Add(rate.Window).Sub(now)
	refusal := Step{Status: http.StatusTooManyRequests, Usage: step.Usage}
	switch rate.RetryAfter {
	case "seconds":
		refusal.RetryAfter.Seconds = strconv.Itoa(int(math.Ceil(left.Seconds())))
	case "date":
		// A date has whole seconds: the next one is after the window's end.
		refusal.RetryAfter = RetryAfter{Date: true, In: left + time.Second}
	}
	return refusal, fmt.Sprintf("429 (over %d in %v)", rate.Requests, rate.Window)
}

// mix picks a fault at random, or none. The seed fixes the sequence, not which client gets which part of it.
func (c *cursor) mix(step Step) (Step, string) {
	m := step.Mix
	if c.random == nil {
		c.random = rand.New(rand.NewPCG(m.Seed, 0))
	}
	if c.random.Float64() >= m.Share {
		return Step{Usage: step.Usage}, "200"
	}
	fault := m.Faults[c.random.IntN(len(m.Faults))]
	return fault, fault.Source
}

// rest names the steps that have not answered as often as they could.
func (c *cursor) rest() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	if c.script.PerSession {
		return nil // each session has a cursor of its own
	}
	for i, step := range c.script.Steps[min(c.index, len(c.script.Steps)):] {
		used := 0
		if i == 0 {
			used = c.used
		}
		switch left := step.Times - used; {
		case step.Times > 1 && left > 1:
			list = append(list, fmt.Sprintf("%sx%d", step.Source, left))
		case step.Times > 0 || used == 0 && repeatable(&step):
			list = append(list, step.Source)
		}
	}
	return list
}
