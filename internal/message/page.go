package message

import (
	"fmt"
	"time"
)

// PageAt says where belay ui is.
func PageAt(address string) string { return fmt.Sprintf("belay ui is at %s; Ctrl-C stops it", address) }

// PageAddress says where belay ui can be entered, by an address that is good once.
func PageAddress(address string) string {
	return fmt.Sprintf("open %s within a minute, in one browser; Ctrl-C stops it", address)
}

// PageNotOpened says that no browser could be opened.
func PageNotOpened(err error) string { return fmt.Sprintf("no browser could be opened: %v", err) }

// PageNoDesktop says why no browser is opened.
func PageNoDesktop() string { return "there is no desktop here" }

// PageExposed warns that the page can be reached from elsewhere.
func PageExposed(address string) string {
	return fmt.Sprintf("%s can be reached from other machines, and nothing that is sent there is encrypted. Safer: ssh -L (docs/ui.md)", address)
}

// PageIdle says that belay ui has ended by itself.
func PageIdle(idle time.Duration) string {
	return fmt.Sprintf("no page was open for %s, so belay ui has ended (--idle)", idle)
}

// PageListen says that belay ui cannot have its port.
func PageListen(err error) string { return fmt.Sprintf("belay ui cannot listen: %v", err) }

// NotAPort says that a value is not a port.
func NotAPort(value string) string {
	return fmt.Sprintf("--port: %q is not a port, from 0 (any that is free) to 65535", value)
}

// NotAnAddress says that a value is not an address to listen on.
func NotAnAddress(value string) string {
	return fmt.Sprintf("--address: %q is not an IP address of this machine, such as 127.0.0.1", value)
}

// PageForeignHost refuses a request that names another machine.
func PageForeignHost() string { return "this address is not one that belay ui answers to" }

// PageForeignOrigin refuses a request that another page has made.
func PageForeignOrigin() string { return "this request comes from another page" }

// PageTicket refuses a token.
func PageTicket() string {
	return "this address was used before, or is older than a minute. For a new one: belay ui"
}

// PageSession refuses a request without a session.
func PageSession() string { return "this page is closed. To open it again: belay ui" }

// PageNotFound says that there is nothing at an address.
func PageNotFound() string { return "not found" }

// PagePostOnly refuses a request that would change something by another method.
func PagePostOnly() string { return PageMethod("POST") }

// PageGetOnly refuses a request for a file by another method.
func PageGetOnly() string { return PageMethod("GET") }

// PageMethod refuses a request by another method.
func PageMethod(want string) string { return fmt.Sprintf("only %s is allowed here", want) }

// PageReadOnly refuses a change.
func PageReadOnly() string {
	return "nothing can be changed here: belay ui was started with --read-only"
}

// PageManyTails refuses to show the output of one more run.
func PageManyTails() string { return "too many pages show the output of a run. Close one of them" }

// PageUnclear refuses a request that cannot be read.
func PageUnclear() string { return "this request cannot be read" }

// HoldLength refuses a hold.
func HoldLength(most time.Duration) string {
	return fmt.Sprintf("a gate can be held for between 1 second and %d days", int(most.Hours()/24))
}

// EmptyToken says that a file has no token in it.
func EmptyToken() string { return "the file is empty" }

// BatchRetrying says that failed tasks of a batch run again.
func BatchRetrying(results string, tasks int, id string) string {
	return fmt.Sprintf("running %s of %s again, as detached run %s", count(tasks, "failed task"), results, id)
}

// BatchRetryFailed says that the failed tasks of a batch could not be run again.
func BatchRetryFailed(results, why string) string {
	if why == "" {
		why = "belay batch gave no reason"
	}
	return fmt.Sprintf("the failed tasks of %s were not run again: %s", results, why)
}

// BatchRetryUnknown refuses to run tasks again of a batch that is not on record.
func BatchRetryUnknown() string { return "no such batch, or its results are gone" }

// BatchRetryRuns refuses to run tasks again of a batch that is running.
func BatchRetryRuns() string {
	return "this batch is still running. Its failed tasks can be run again when it has ended"
}

// BatchRetryNothing refuses to run tasks again of a batch in which none has failed.
func BatchRetryNothing() string { return "no task of this batch has failed" }

// BatchRetryNoCommand refuses to run tasks again where the command is not on record.
func BatchRetryNoCommand() string {
	return "the command of this batch is not on record. Run it in a terminal, with --retry-failed"
}

// BatchRetryNoDir refuses to run tasks again where the directory is gone that they ran in.
func BatchRetryNoDir(dir string) string {
	return fmt.Sprintf("%s, where this batch was run, is gone", dir)
}
