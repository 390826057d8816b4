package message

import "fmt"

// DemoBegin is what belay demo begins with.
func DemoBegin() string {
	return `A stand-in for an API listens on loopback and fails on purpose; "ask" is a small client of it.
Nothing is spent. Times are short here, so that you need not wait.`
}

// DemoLimit tells of the first scene.
func DemoLimit() string {
	return `1. A limit: the API says "too many requests, come back in 2 seconds". Belay waits, and asks again.`
}

// DemoOutage tells of the second scene.
func DemoOutage() string {
	return `2. An outage: after three failed runs in a row, the breaker opens. For 3 seconds (a minute by default)
   no run that shares the gate "api" calls the service. Then one probe finds out whether it is back.`
}

// DemoMeanwhile tells of another terminal.
func DemoMeanwhile() string { return `   Meanwhile, from another terminal:` }

// DemoBack tells of the first terminal again.
func DemoBack() string { return `   Back in the first one, when the time is up:` }

// DemoClosed tells of the third scene.
func DemoClosed() string { return `3. The service answers, and answers again: the breaker is closed.` }

// DemoRecord tells of the last scene.
func DemoRecord(path string) string {
	return "4. The record: one line of JSON for each attempt, in " + path
}

// DemoEnd is what belay demo ends with.
func DemoEnd(path string) string {
	return fmt.Sprintf(`Your own runs are recorded in %s. Now try: belay run -- a command of yours,
or, with an agent installed: belay rehearse --script '429(retry-after=2)x2, 200' -- claude -p hi`, path)
}

// DemoFailed says that a command of the demo did not end as it should.
func DemoFailed(command string, code int) string {
	return fmt.Sprintf("the demo failed: belay %s exited %d", command, code)
}

// DemoTooWell says that the demo had nothing to show.
func DemoTooWell() string { return "the demo failed: every call succeeded" }

// DemoInterrupted says that the demo was interrupted.
func DemoInterrupted(code int) string { return fmt.Sprintf("interrupted, exit code %d", code) }

// DemoNoState says that there is no place for the record of the demo.
func DemoNoState(err error) string {
	return fmt.Sprintf("cannot record the demo: %v. To use another directory: BELAY_STATE_DIR=/some/where belay demo", err)
}
