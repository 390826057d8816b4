// Package agents holds the end-to-end tests that drive belay run with the real agent CLIs against a rehearsal, and nothing
// else.
//
// Every CLI of the registry takes part. A test in a file without a CLI's name runs over all of them, and asks its agent for
// what differs: arguments, forms of output, how a failure reads. What is known of a CLI is in claude_test.go and
// codex_test.go, and what only one of them has is in the files that begin with its name. A CLI without such a file plays
// the first scenario of TestScenario.
//
// Every test says how many requests the API saw: what the CLI retries by itself and what Belay retries never multiply.
// `go test` runs the acceptance tests of the seeds and the quick scenarios with the newest version of each CLI; with
// BELAY_TEST_FULL=1 all of them, with the older versions too.
package agents
