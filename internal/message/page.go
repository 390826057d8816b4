package message

import (
	"fmt"
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

// BatchRetryFailed says that the failed tasks of a batch could not be run again.
func BatchRetryFailed(results, why string) string {
	if why == "" {
		why = "belay batch gave no reason"
	}
	return fmt.Sprintf("the failed tasks of %s were not run again: %s", results, why)
}
