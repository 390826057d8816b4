package message

import (
	"fmt"
	"time"
)

// PageForeignOrigin refuses a request that another page has made.
func PageForeignOrigin() string { return "this request comes from another page" }

// PageTicket refuses a token.
func PageTicket() string {
	return "this address was used before, or is older than a minute. For a new one: belay ui"
}

// PageNotFound says that there is nothing at an address.
func PageNotFound() string { return "not found" }

// PagePostOnly refuses a request that would change something by another method.
func PagePostOnly() string { return PageMethod("POST") }

// PageMethod refuses a request by another method.
func PageMethod(want string) string { return fmt.Sprintf("only %s is allowed here", want) }

// PageUnclear refuses a request that cannot be read.
func PageUnclear() string { return "this request cannot be read" }

// HoldLength refuses a hold.
func HoldLength(most time.Duration) string {
	return fmt.Sprintf("a gate can be held for between 1 second and %d days", int(most.Hours()/24))
}

// BatchRetrying says that failed tasks of a batch run again.
func BatchRetrying(results string, tasks int, id string) string {
	return fmt.Sprintf("running %s of %s again, as detached run %s", Count(tasks, "failed task"), results, id)
}

// BatchRetryFailed says that the failed tasks of a batch could not be run again.
func BatchRetryFailed(results, why string) string {
	if why == "" {
		why = "belay batch gave no reason"
	}
	return fmt.Sprintf("the failed tasks of %s were not run again: %s", results, why)
}
