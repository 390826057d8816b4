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

// DeathLeft says that the proxy has given it up.
func DeathLeft(why string) string { return why + ", and its session was closed" }

// ConnectionCut says that the connection was lost.
func ConnectionCut(err error) string {
	if err == nil {
		return "closed the connection"
	}
	return "closed the connection (" + err.Error() + ")"
}

// NoAnswerInStream says that a stream has ended without the answer.
func NoAnswerInStream() string { return "closed the stream without an answer" }

// WrongType says that an answer is of a type that is none of the protocol's.
func WrongType(mediaType string) string { return "sent " + mediaType + " instead of an MCP answer" }

// NotAnAnswer says that what came is not the answer to the request.
func NotAnAnswer() string { return "sent something that does not answer the request" }

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
	return sentences(fmt.Sprintf("the MCP server %q %s", name, how), "the call was not carried out")
}

// ServerWantsLogin says that a server asks for OAuth, which belay leaves to clients.
func ServerWantsLogin(name string) string {
	return sentences(fmt.Sprintf("the MCP server %q asks for a login (401), which only the client itself can do", name),
		"connect the client to it without belay, or give belay a token: belay mcp --bearer-env VARIABLE")
}

// CredentialRefused says that a server does not take the credentials that it was given.
func CredentialRefused(name, status string, variables []string) string {
	return fmt.Sprintf("the MCP server %q answered %s to the credentials from %s", name, status, strings.Join(variables, ", "))
}

// ForeignRedirect says that a server sends its callers elsewhere.
func ForeignRedirect(name, origin string) string {
	return sentences(fmt.Sprintf("the MCP server %q redirects to another origin, %s, and belay does not follow: your headers are not meant for it", name, origin),
		"if that is where the server is now, change --url")
}

// TooManyRedirects says that redirects lead nowhere.
func TooManyRedirects() string { return "redirects again and again" }

// The following are mistakes in the flags.

// NotAServerURL says that a text is no address of a server.
func NotAServerURL() string { return "--url takes an http or https address" }

// URLHasPassword says that an address has credentials in it, which others can read.
func URLHasPassword() string {
	return "--url has a password in it, which everyone on this machine can read. Put it into a variable and use --header-env"
}

// NotAHeaderVariable says that a text does not name a header and its variable.
func NotAHeaderVariable(text string) string {
	return fmt.Sprintf("%q is not a header and the environment variable that has its value", text)
}

// NotATransport says that a transport is unknown.
func NotATransport(text string) string {
	return fmt.Sprintf("%q is not a transport: http or sse", text)
}

// URLOrCommand says that a server has an address or a command.
func URLOrCommand() string { return "--url and a command cannot be used together" }

// NeedsURL says that a flag is for servers over a network.
func NeedsURL(flag string) string { return "--" + flag + " needs --url" }

// NotWithURL says that a flag is for servers that belay starts.
func NotWithURL(flag string) string { return "--" + flag + " cannot be used with --url" }

// HeaderVariableUnset says that the variable of a header has no value.
func HeaderVariableUnset(variable string) string {
	return fmt.Sprintf("the environment variable %s is not set", variable)
}

// HeaderVariableBad says that the value of a variable cannot be sent. The value itself is not shown.
func HeaderVariableBad(variable string) string {
	return fmt.Sprintf("the environment variable %s has characters that a header cannot have", variable)
}
