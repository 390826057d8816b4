package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// short shows how long a call may take or has taken.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return span(d)
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
		text = sentences(text, "last failure: "+reason)
	}
	return sentences(text, liftHint(gateKey))
}

// ServerCrashed tells a client, and its model, that the server has ended during a call. how is what became of it, tail the end of what it
// wrote to stderr.
func ServerCrashed(name, how, method, tool, tail string, restarts bool) string {
	text := CallCut(name, how, method, tool)
	if restarts {
		text = sentences(text, "it is being restarted and has lost what it kept in memory")
	} else {
		text = sentences(text, "it is not restarted (--no-restart)")
	}
	return sentences(text, stderrTail(tail))
}

// calledName is what a call is of.
func calledName(method, tool string) string {
	if tool != "" {
		return "tool " + strconv.Quote(tool)
	}
	return method
}

// ServerNotStarted says that a server could not be started.
func ServerNotStarted(name string, err error) string {
	return fmt.Sprintf("the MCP server %q cannot be started: %v", name, err)
}

// ServerDied says that a server has ended before it could be used.
func ServerDied(name, how, tail string) string {
	return sentences(fmt.Sprintf("the MCP server %q %s before it could be used", name, how), stderrTail(tail))
}

// ServerStaysDown says that a server that has ended is not restarted.
func ServerStaysDown(what string) string {
	return what + "\nIt is not restarted (--no-restart). Start a new session"
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

// ServerHangs says that a server does not react.
func ServerHangs(name string) string { return fmt.Sprintf("the MCP server %q is not responding", name) }

// ServerNotBack says that a server was not there again in time.
func ServerNotBack(name string) string {
	return fmt.Sprintf("the MCP server %q was not back in time", name)
}

// ClientLeft says that a call was not answered because the client has left.
func ClientLeft(name, status string) string {
	return fmt.Sprintf("the client has left and the MCP server %q ended without an answer (%s)", name, status)
}

// RequestTooLarge says that a request is not carried.
func RequestTooLarge(size, limit int) string { return tooLarge("request", size, limit) }

// AnswerTooLarge says that an answer is not carried.
func AnswerTooLarge(size, limit int) string { return tooLarge("answer", size, limit) }

func tooLarge(what string, size, limit int) string {
	return fmt.Sprintf("the %s has %s, and the limit is %s. To raise it: belay mcp --max-message", what, Size(size), Size(limit))
}

// TooManyWait says that a call is not kept for a server that is down.
func TooManyWait() string { return "too many calls are waiting for the server to come back" }

// NotJSON says that a line of the client is not JSON.
func NotJSON() string { return "this is not JSON" }

// NotJSONRPC says that a line of the client is JSON and no message.
func NotJSONRPC() string { return "this is not a JSON-RPC 2.0 message" }

// NoBatches says that batches are not part of the protocol any more.
func NoBatches() string { return "this version of the protocol has no batches" }

// NestedBatch says that a batch stands in a batch.
func NestedBatch() string { return "a batch cannot contain a batch" }

// DuplicateID says that a request has the id of another one.
func DuplicateID() string { return "another request with this id is still running" }

// The following say what became of a server; "the server" stands before them.

// DeathNotStarted says that it could not be started.
func DeathNotStarted(err error) string { return "could not be started (" + err.Error() + ")" }

// DeathEnded says that it was ended by the proxy.
func DeathEnded(why string) string { return why + " and was terminated" }

// DeathCrashed says that it has ended by itself.
func DeathCrashed(status string) string { return "crashed (" + status + ")" }

// NoInitialize says that it has not answered the first request.
func NoInitialize(took time.Duration) string {
	return "did not answer initialize within " + short(took)
}

// NoLife says that it does not react.
func NoLife(limit time.Duration) string { return "did not respond for " + short(limit) }

// ExitStatus shows an exit code.
func ExitStatus(code int) string { return fmt.Sprintf("exit status %d", code) }

// NoExitStatus says that the exit code is not known.
func NoExitStatus() string { return "its exit status is unknown" }

// ServerEnded is the reason that a client is given for what the server does not want to know any more.
func ServerEnded() string { return "the server has ended" }

// The following are put on record; nothing else is said.

// OnServer is a line of the record about what became of the server.
func OnServer(how string) string { return "the server " + how }

// SentAgain is on record for a call that is repeated.
func SentAgain(how string) string { return "sent again after the server " + how }

// NoServerInTime is on record for a call that had no server.
func NoServerInTime() string { return "the server was not back in time" }

// NoAnswerWithin is on record for a call that was not answered in time.
func NoAnswerWithin(took time.Duration) string { return "no answer within " + short(took) }

// NoAnswerTo is what a gate is told.
func NoAnswerTo(method string) string { return "no answer to " + method }

// RequestOversize is on record for a request that is not carried.
func RequestOversize() string { return "a message from the client was too large" }

// AnswerOversize is on record for an answer that is not carried.
func AnswerOversize(size int) string { return "an answer of " + Size(size) + " is too large" }

// LineOversize is on record for another line of the server.
func LineOversize() string { return "a line from the server was too large" }

// CancelledByClient is on record for a call that the client has taken back.
func CancelledByClient() string { return "cancelled by the client" }

// Polluted is on record for what a server prints besides messages.
func Polluted() string {
	return "the server printed something other than JSON-RPC to stdout"
}

// LateAnswer is on record for an answer to a call that is over.
func LateAnswer() string { return "the server answered a call that had already ended" }

// Unlogged is on record for incidents that are not.
func Unlogged(n int) string {
	return fmt.Sprintf("%d incidents were not logged because they came too fast", n)
}

// ErrorOfSize is on record for an error that is too large to be read.
func ErrorOfSize(size int) string { return "an error of " + Size(size) }

// ErrorWithoutMessage is on record for an error that says nothing.
func ErrorWithoutMessage() string { return "an error without a message" }

// NoReinitialize is how a server ended that did not answer initialize after a restart.
func NoReinitialize() string { return "did not answer initialize after a restart" }

// NoNewSession is how a server ended that did not take the session of the one before.
func NoNewSession() string { return "did not accept the session of the one before" }
