package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Short shows how long a call may take or has taken.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Size shows the size of a message.
func Size(n int) string {
	if n < 1<<20 {
		return strconv.Itoa(n) + " bytes"
	}
	return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
}

// ServerRefused says that an MCP server keeps failing and is not called until a time, or, if that is zero, until another call
// has shown that it works.
func ServerRefused(name, reason string, until time.Time, gateKey string) string {
	text := fmt.Sprintf("the MCP server %q keeps failing", name)
	if reason != "" {
		text += " (" + reason + ")"
	}
	text += " and is not called"
	if !until.IsZero() {
		text += fmt.Sprintf(" before %s, in %s", until.UTC().Format(time.RFC3339), short(time.Until(until)))
	} else {
		text += " while another call finds out whether it works again"
	}
	return text + "; to lift it: belay gates reset " + gateKey
}

// ServerCrashed tells a client, and its model, that the server has ended during a call. how is what became of it, tail the end
// of what it wrote to stderr.
func ServerCrashed(name, how, method, tool, tail string, restarts bool) string {
	what := method
	if tool != "" {
		what = "tool " + strconv.Quote(tool)
	}
	text := fmt.Sprintf("the MCP server %q %s while %s was under way", name, how, what)
	if restarts {
		text += "; it is started again, but what it kept in memory is gone, and whether the call took effect is not known"
	} else {
		text += "; it is not started again (--no-restart), and whether the call took effect is not known"
	}
	return text + stderrTail(tail)
}

// ServerNotStarted says that a server could not be started.
func ServerNotStarted(name string, err error) string {
	return fmt.Sprintf("the MCP server %q cannot be started: %v", name, err)
}

// ServerDied says that a server has ended before it could be used.
func ServerDied(name, how, tail string) string {
	return fmt.Sprintf("the MCP server %q %s before it could be used%s", name, how, stderrTail(tail))
}

// ServerStaysDown says that a server that has ended is not started again.
func ServerStaysDown(what string) string {
	return what + "\nIt is not started again (--no-restart): begin a new session"
}

// stderrTail shows the end of what a server wrote to stderr.
func stderrTail(tail string) string {
	if tail = strings.TrimSpace(tail); tail == "" {
		return "; it wrote nothing to stderr"
	}
	return ". The end of its stderr:\n" + tail
}

// ToolTimedOut says that a tool did not answer in time. more is a limit that would allow it more.
func ToolTimedOut(server, tool string, took, more time.Duration) string {
	return fmt.Sprintf("tool %q of the MCP server %q gave no answer within %s and was cancelled; it may have taken effect. To allow it more time: belay mcp --tool-timeout %s=%s",
		tool, server, short(took), tool, short(more))
}

// CallTimedOut says that a request was not answered in time.
func CallTimedOut(server, method string, took time.Duration) string {
	return fmt.Sprintf("the MCP server %q gave no answer to %s within %s", server, method, short(took))
}

// ServerHangs says that a server does not react.
func ServerHangs(name string) string { return fmt.Sprintf("the MCP server %q does not react", name) }

// ServerNotBack says that a server was not there again in time.
func ServerNotBack(name string) string {
	return fmt.Sprintf("the MCP server %q has not come back in time", name)
}

// ClientLeft says that a call was not answered because the client has left.
func ClientLeft(name, status string) string {
	return fmt.Sprintf("the client has left, and the MCP server %q ended (%s) without an answer", name, status)
}

// RequestTooLarge says that a request is not carried.
func RequestTooLarge(size, limit int) string { return tooLarge("request", size, limit) }

// AnswerTooLarge says that an answer is not carried.
func AnswerTooLarge(size, limit int) string { return tooLarge("answer", size, limit) }

func tooLarge(what string, size, limit int) string {
	return fmt.Sprintf("the %s has %s, more than the %s that are carried; to carry more: belay mcp --max-message", what, Size(size), Size(limit))
}

// TooManyWait says that a call is not kept for a server that is down.
func TooManyWait() string { return "too many calls wait for the server to come back" }

// NotJSON says that a line of the client is not JSON.
func NotJSON() string { return "this is not JSON" }

// NotJSONRPC says that a line of the client is JSON and no message.
func NotJSONRPC() string { return "this is not a JSON-RPC 2.0 message" }

// NoBatches says that batches are not part of the protocol any more.
func NoBatches() string { return "this version of the protocol has no batches" }

// NestedBatch says that a batch stands in a batch.
func NestedBatch() string { return "a batch in a batch" }

// DuplicateID says that a request has the id of another one.
func DuplicateID() string { return "a request with this id is under way" }

// The following say what became of a server; "the server" stands before them.

// DeathNotStarted says that it could not be started.
func DeathNotStarted(err error) string { return "could not be started (" + err.Error() + ")" }

// DeathEnded says that it was ended by the proxy.
func DeathEnded(why string) string { return why + " and was ended" }

// DeathCrashed says that it has ended by itself.
func DeathCrashed(status string) string { return "crashed (" + status + ")" }

// NoInitialize says that it has not answered the first request.
func NoInitialize(took time.Duration) string {
	return "did not answer initialize within " + short(took)
}

// NoLife says that it does not react.
func NoLife(limit time.Duration) string { return "gave no sign of life for " + short(limit) }

// ExitStatus shows an exit code.
func ExitStatus(code int) string { return fmt.Sprintf("exit status %d", code) }

// NoExitStatus says that the exit code is not known.
func NoExitStatus() string { return "its exit status is not known" }

// ServerEnded is the reason that a client is given for what the server does not want to know any more.
func ServerEnded() string { return "the server has ended" }

// The following are put on record; nothing else is said.

// OnServer is a line of the record about what became of the server.
func OnServer(how string) string { return "the server " + how }

// SentAgain is on record for a call that is repeated.
func SentAgain(how string) string { return "sent again after the server " + how }

// NoServerInTime is on record for a call that had no server.
func NoServerInTime() string { return "no server was there in time" }

// NoAnswerWithin is on record for a call that was not answered in time.
func NoAnswerWithin(took time.Duration) string { return "no answer within " + short(took) }

// NoAnswerTo is what a gate is told.
func NoAnswerTo(method string) string { return "no answer to " + method }

// RequestOversize is on record for a request that is not carried.
func RequestOversize() string { return "a message of the client was too large" }

// AnswerOversize is on record for an answer that is not carried.
func AnswerOversize(size int) string { return "an answer of " + Size(size) + " is too large" }

// LineOversize is on record for another line of the server.
func LineOversize() string { return "a line of the server was too large" }

// CancelledByClient is on record for a call that the client has taken back.
func CancelledByClient() string { return "cancelled by the client" }

// Polluted is on record for what a server prints besides messages.
func Polluted() string {
	return "the server printed something to stdout that is no JSON-RPC message"
}

// LateAnswer is on record for an answer to a call that is over.
func LateAnswer() string { return "the server answered a call that was over" }

// Unlogged is on record for incidents that are not.
func Unlogged(n int) string {
	return fmt.Sprintf("%d incidents came faster than they could be logged", n)
}

// ErrorOfSize is on record for an error that is too large to be read.
func ErrorOfSize(size int) string { return "an error of " + Size(size) }

// ErrorWithoutMessage is on record for an error that says nothing.
func ErrorWithoutMessage() string { return "an error without a message" }

// ToolErrorWithoutText is on record for a failed tool that says nothing.
func ToolErrorWithoutText() string { return "an error without a text" }
