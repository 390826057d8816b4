package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

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
