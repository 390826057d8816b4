package history

import (
	"fmt"
	"strings"
)

// Flaw is something in a record for which a service refuses the history, or a CLI the record.
type Flaw string

// The flaws.
const (
	Torn        Flaw = "torn_line"
	Headless    Flaw = "no_head"
	Broken      Flaw = "broken_chain"
	Unanswered  Flaw = "call_without_result"
	Unasked     Flaw = "result_without_call"
	CalledTwice Flaw = "call_twice"
	ToldTwice   Flaw = "result_twice"
	Misplaced   Flaw = "result_before_call"
	Nameless    Flaw = "invalid_call_id"
	Empty       Flaw = "empty_text"
	Untyped     Flaw = "unknown_part"
	LargeImage  Flaw = "image_too_large"
	WrongImage  Flaw = "image_of_another_type"
	BadImage    Flaw = "unreadable_image"
	Unsigned    Flaw = "thinking_refused"
	TooLong     Flaw = "too_long"
	NoRequest   Flaw = "no_request"
)

// words say what a flaw is and what becomes of it. One that nothing can be done about has no second part.
var words = map[Flaw][2]string{
	Torn:        {"a line that cannot be read", "left out"},
	Headless:    {"the first line is missing", "made anew"},
	Broken:      {"a message whose predecessor is missing", "joined to the one before it"},
	Unanswered:  {"a tool call without a result", "given a result that says so"},
	Unasked:     {"a tool result without its call", "left out"},
	CalledTwice: {"a tool call that is there twice", "left out once"},
	ToldTwice:   {"a tool result that is there twice", "left out once"},
	Misplaced:   {"a tool result before its call", "moved behind it"},
	Nameless:    {"a tool call with an invalid id", "left out"},
	Empty:       {"an empty text", "left out"},
	Untyped:     {"a part of a kind that services do not know", "left out"},
	LargeImage:  {"an image that is too large", "replaced by a note"},
	WrongImage:  {"an image that is not of the type it says", "replaced by a note"},
	BadImage:    {"an image that cannot be read", "replaced by a note"},
	Unsigned:    {"thinking that the service refuses", "left out"},
	TooLong:     {"more than the model can take", ""},
	NoRequest:   {"nothing that the user has said", ""},
}

func (f Flaw) String() string { return words[f][0] }

// Mend says what becomes of it in a copy; empty if nothing can be done about it.
func (f Flaw) Mend() string { return words[f][1] }

// Flaws are all of them, in no order.
func Flaws() (list []Flaw) {
	for f := range words {
		list = append(list, f)
	}
	return list
}

// Finding is a flaw, and where it is.
type Finding struct {
	Flaw Flaw   `json:"flaw"`
	Line int    `json:"line"` // from 1; 0 if it is that of the whole
	What string `json:"what"`
	// Healed says that the version of the CLI that wrote the record mends it by itself.
	Healed bool   `json:"healed"`
	Mend   string `json:"mend,omitempty"`
}

func (f *Finding) String() string {
	if f.Line == 0 {
		return f.What
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.What)
}

// blamed are the kinds of parts that a refusal is about, of which a record does not show why: a signature is for the service to check, and how many images are too many for their size.
func blamed(refused string) (kind Kind, flaw Flaw, ok bool) {
	refused = strings.ToLower(refused)
	for _, b := range []struct {
		word string
		kind Kind
		flaw Flaw
	}{{"expected tags", Unknown, Untyped}, {"supported values", Unknown, Untyped}, {"thinking", Thinking, Unsigned}, {"signature", Thinking, Unsigned},
		{"encrypted content", Thinking, Unsigned}, {"'reasoning'", Thinking, Unsigned}, {"image", Image, LargeImage}} {
		if strings.Contains(refused, b.word) {
			return b.kind, b.flaw, true
		}
	}
	return 0, "", false
}

// isTooLong reports whether a refusal is about the length of it all.
func isTooLong(refused string) bool {
	refused = strings.ToLower(refused)
	for _, word := range []string{"too long", "context window", "context length", "context limit", "maximum context"} {
		if strings.Contains(refused, word) {
			return true
		}
	}
	return false
}
