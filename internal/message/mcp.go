package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/printable"
)

// short shows how long a call may take or has taken.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return printable.Span(d)
}

// Size shows the size of a message.
func Size(n int) string {
	if n < 1<<20 {
		return strconv.Itoa(n) + " bytes"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// ServerRefused says that an MCP server keeps failing and is not called until a time, or, if that is zero, until another call has shown
// that it works.
func ServerRefused(name, reason string, until time.Time, gateKey string) string {
	text := fmt.Sprintf("the MCP server %q keeps failing and is not called until ", name)
	if until.IsZero() {
		text += "another call shows that it works"
	} else {
		text += until.UTC().Format(time.RFC3339)
	}
	if reason != "" {
		text = Sentences(text, "last failure: "+reason)
	}
	return Sentences(text, liftHint(gateKey))
}

// ServerCrashed tells a client, and its model, that the server has ended during a call. how is what became of it, tail the end of what it
// wrote to stderr.
func ServerCrashed(name, how, method, tool, tail string, restarts bool) string {
	text := CallCut(name, how, method, tool)
	if restarts {
		text = Sentences(text, "it is being restarted and has lost what it kept in memory")
	} else {
		text = Sentences(text, "it is not restarted (--no-restart)")
	}
	return Sentences(text, stderrTail(tail))
}

// calledName is what a call is of.
func calledName(method, tool string) string {
	if tool != "" {
		return "tool " + strconv.Quote(tool)
	}
	return method
}

// ServerDied says that a server has ended before it could be used.
func ServerDied(name, how, tail string) string {
	return Sentences(fmt.Sprintf("the MCP server %q %s before it could be used", name, how), stderrTail(tail))
}

// stderrTail shows the end of what a server wrote to stderr.
func stderrTail(tail string) string {
	if tail = strings.TrimSpace(tail); tail == "" {
		return "it wrote nothing to stderr"
	}
	return "the end of its stderr:\n" + tail
}

// ToolTimedOut says that a tool did not answer in time. more is a limit that would allow it more.
func ToolTimedOut(server, tool string, took, more time.Duration) string {
	return fmt.Sprintf("tool %q of the MCP server %q did not answer within %s and was cancelled. It may have taken effect. To allow more time: belay mcp --tool-timeout %s=%s",
		tool, server, short(took), tool, short(more))
}

// CallTimedOut says that a request was not answered in time.
func CallTimedOut(server, method string, took time.Duration) string {
	return fmt.Sprintf("the MCP server %q did not answer %s within %s", server, method, short(took))
}

// ServerNotBack says that a server was not there again in time.
func ServerNotBack(name string) string {
	return fmt.Sprintf("the MCP server %q was not back in time", name)
}

// RequestTooLarge says that a request is not carried.
func RequestTooLarge(size, limit int) string { return tooLarge("request", size, limit) }

// AnswerTooLarge says that an answer is not carried.
func AnswerTooLarge(size, limit int) string { return tooLarge("answer", size, limit) }

func tooLarge(what string, size, limit int) string {
	return fmt.Sprintf("the %s has %s, and the limit is %s. To raise it: belay mcp --max-message", what, Size(size), Size(limit))
}

// The following say what became of a server; "the server" stands before them.

// NoInitialize says that it has not answered the first request.
func NoInitialize(took time.Duration) string {
	return "did not answer initialize within " + short(took)
}

// NoLife says that it does not react.
func NoLife(limit time.Duration) string { return "did not respond for " + short(limit) }

// The following are put on record; nothing else is said.

// OnServer is a line of the record about what became of the server.
func OnServer(how string) string { return "the server " + how }

// NoServerInTime is on record for a call that had no server.
func NoServerInTime() string { return "the server was not back in time" }

// NoAnswerWithin is on record for a call that was not answered in time.
func NoAnswerWithin(took time.Duration) string { return "no answer within " + short(took) }

// ErrorOfSize is on record for an error that is too large to be read.
func ErrorOfSize(size int) string { return "an error of " + Size(size) }

// ErrorWithoutMessage is on record for an error that says nothing.
func ErrorWithoutMessage() string { return "an error without a message" }

// The following say what became of a server over a network; "the server" stands before them.

// DeathNotReached says that it could not be reached.
func DeathNotReached(err error) string { return "could not be reached (" + err.Error() + ")" }

// DeathForgot says that it does not know the session any more.
func DeathForgot() string { return "no longer knows the session" }

// ConnectionCut says that the connection was lost.
func ConnectionCut(err error) string {
	if err == nil {
		return "closed the connection"
	}
	return "closed the connection (" + err.Error() + ")"
}

// WrongType says that an answer is of a type that is none of the protocol's.
func WrongType(mediaType string) string { return "sent " + mediaType + " instead of an MCP answer" }

// HTTPStatus says what a request was answered with. body is the beginning of the text that came with it.
func HTTPStatus(status, body string) string {
	text := "answered " + status
	if body = strings.Join(strings.Fields(body), " "); body != "" {
		text += " (" + strings.TrimRight(body, ".") + ")"
	}
	return text
}

// Throttled says that a request was refused for now as often as it was sent.
func Throttled(status string, tries int, asked time.Duration) string {
	text := "answered " + status
	if tries > 1 {
		text += " " + strconv.Itoa(tries) + " times"
	}
	if asked > 0 {
		text += " and asks to wait " + short(asked)
	}
	return text
}

// NoEndpoint says that it did not say where messages are to be sent, as servers of 2024-11-05 do first.
func NoEndpoint() string { return "did not name its endpoint" }

// ForeignEndpoint says that it wants messages to be sent to another server.
func ForeignEndpoint(origin string) string { return "names an endpoint on another origin, " + origin }

// SessionOver says that the connection was ended by us.
func SessionOver() string { return "was disconnected" }

// The following are what a client is told.

// ServerNotReached says that a server cannot be reached.
func ServerNotReached(name string, err error) string {
	return fmt.Sprintf("the MCP server %q cannot be reached: %v", name, err)
}

// CallCut says that the answer to a call was lost. how stands after "the server".
func CallCut(name, how, method, tool string) string {
	return fmt.Sprintf("the MCP server %q %s during %s, which may have taken effect", name, how, calledName(method, tool))
}

// CallNotDone says that a call was not carried out. how stands after "the server".
func CallNotDone(name, how string) string {
	return Sentences(fmt.Sprintf("the MCP server %q %s", name, how), "the call was not carried out")
}

// The following are mistakes in the flags.

// NotAServerURL says that a text is no address of a server.
func NotAServerURL() string { return "--url takes an http or https address" }

// NotAHeaderVariable says that a text does not name a header and its variable.
func NotAHeaderVariable(text string) string {
	return fmt.Sprintf("%q is not a header and the environment variable that has its value", text)
}
