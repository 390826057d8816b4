// Package claude holds the tests that drive belay run with the real Claude Code against a rehearsal, and nothing else.
//
// Every test says how many requests the API saw: what claude retries by itself and what Belay retries never multiply.
// `go test` runs the quick scenarios with the newest claude; with BELAY_TEST_FULL=1 all of them, with older ones too.
package claude
