// Package scenario tests a program against services that fail on purpose.
//
// A [Scenario] is a file that people keep in their repositories: the script of the stand-ins, the program (a shell script, an SDK's, gh, an agent through
// belay run or without it), the files it starts with, and what is expected of it. [Read] reads one, with what it extends and all of its variations; a mistake
// is an error with file and line, and nothing is started. [Scenario.Run] gives it stand-ins and a home of its own and returns what was [Seen]: requests and
// gaps by the clock of the stand-ins, exit code, output, files, effects, cost, and what is still running. [Expect.Check] holds that against what was expected.
// A [Report] is for people, for programs, for JUnit and for GitHub Actions.
package scenario
