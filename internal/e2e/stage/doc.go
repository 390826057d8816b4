// Package stage is what the end-to-end suites have in common, so that they hold scenarios and nothing else.
//
// [Main] is their TestMain: it builds belay and keeps the tests offline. [Claude] and [Codex] are the agents; [CLI.New]
// begins a rehearsal: an API that follows a script, with a working directory, a home and a state directory of its own, and
// at the end of the test nothing may be left of it. A [Ran] is a command that has ended, with the checks that every
// scenario makes, and a [Scenario] is a row of a table of them.
package stage
