// Package codex holds the tests that drive belay run with the real Codex against a rehearsal, and nothing else.
//
// Every test says how many requests the API saw: what codex retries by itself and what Belay retries never multiply.
// `go test` runs the quick scenarios with the newest codex; with BELAY_TEST_FULL=1 all of them, with an older one too.
package codex
