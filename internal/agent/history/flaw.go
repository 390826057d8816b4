package history

import (
	"fmt"
	"slices"
	"strings"
)

// Flaw is something in a record for which a service refuses the history, or a CLI the record.
type Flaw string

// The flaws.
const (
	Torn       Flaw = "torn_line"
	Headless   Flaw = "no_head"
	Broken     Flaw = "broken_chain"
	Doubled    Flaw = "line_twice"
	Unanswered Flaw = "call_without_result"
	Unasked    Flaw = "result_without_call"
	Twice      Flaw = "call_or_result_twice"
	Nameless   Flaw = "invalid_call_id"
	Named      Flaw = "call_refused"
	Empty      Flaw = "empty_text"
	Untyped    Flaw = "unknown_part"
	LargeImage Flaw = "image_too_large"
	WrongImage Flaw = "image_of_another_type"
	BadImage   Flaw = "unreadable_image"
	Unsigned   Flaw = "thinking_refused"
	TooLong    Flaw = "too_long"
	NoRequest  Flaw = "no_request"
)

// words say what a flaw is and what becomes of it. One that nothing can be done about has no second part.
var words = map[Flaw][2]string{
	Torn:       {"a line that cannot be read", "left out"},
	Headless:   {"the first line is missing", "made anew"},
	Broken:     {"a message whose predecessor is missing", "joined to the one before it"},
	Doubled:    {"a line that is there twice", "left out once"},
	Unanswered: {"a tool call without a result", "given a result that says so"},
	Unasked:    {"a tool result without its call", "left out"},
	Twice:      {"a tool call, or a result, that is there twice", "left out once"},
	Nameless:   {"a tool call with an invalid id", "left out"},
	Named:      {"a tool call that the service refuses", "left out, with its result"},
	Empty:      {"an empty text", "left out"},
	Untyped:    {"a part of a kind that services do not know", "left out"},
	LargeImage: {"an image that is too large", "replaced by a note"},
	WrongImage: {"an image that is not of the type it says", "replaced by a note"},
	BadImage:   {"an image that cannot be read", "replaced by a note"},
	Unsigned:   {"thinking that the service refuses", "left out"},
	TooLong:    {"more than the model can take", ""},
	NoRequest:  {"nothing that the user has said", ""},
}

// isNoted says that a note stays in the place of what has the flaw.
func (f Flaw) isNoted() bool { return f == LargeImage || f == WrongImage || f == BadImage }

func (f Flaw) String() string { return words[f][0] }

// Mend says what becomes of it in a copy; empty if nothing can be done about it.
func (f Flaw) Mend() string { return words[f][1] }

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

// blamed is what a refusal is about of which a record does not show why: a signature is for the service to check, as is the length of it all, and how many images are too many for
// their size.
func blamed(refused string) (kind Kind, flaw Flaw) {
	switch {
	case says(refused, "too long", "context window", "context length", "context limit", "maximum context"):
		return "", TooLong
	case says(refused, "expected tags", "supported values"):
		return Unknown, Untyped
	case says(refused, "thinking", "signature", "encrypted content", "'reasoning'"):
		return Thinking, Unsigned
	case says(refused, "image"):
		return Image, LargeImage
	}
	return "", ""
}

func says(refused string, words ...string) bool {
	refused = strings.ToLower(refused)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(refused, word) })
}
