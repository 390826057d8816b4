//go:build linux

package main

import "fmt"

// script is one fault script: what is run, and what the scripted programs do that belay starts. The same seed makes the
// same script as long as the generator and the recorded outcomes in the tree stay as they are.
type script struct {
	Seed  uint64
	Kind  string
	Steps []step
	// Acts are what a program does, by its name or, for one step, by [atStep]. Its first start plays the first, and so on;
	// further starts play the last.
	Acts map[string][]act
	// Answers are what gh says to questions that belay asks on the side. They do not count as starts.
	Answers []answer          `json:",omitempty"`
	Files   map[string]string `json:",omitempty"` // by path below the directory of the script
	Waits   waits             `json:",omitempty"`
}

// waits say how far the waits between attempts are the same each time.
type waits string

const (
	measured waits = ""       // they have something to do with how long things took
	planned  waits = "exact"  // they are what the policy says
	random   waits = "random" // they are left to chance
)

// step is one call of belay.
type step struct {
	Args  []string
	Env   []string `json:",omitempty"`
	Stdin *string  `json:",omitempty"` // nil means the null device
	// Background says that the next step begins as soon as the file Ready is there. The script waits for it at its end, when it
	// has made the file "release".
	Background bool   `json:",omitempty"`
	Ready      string `json:",omitempty"`
	Signal     string `json:",omitempty"` // sent to belay when the file Ready is there
	After      int    `json:",omitempty"` // and so many milliseconds have passed
	Takes      int    `json:",omitempty"` // how much of stdout is read before it is closed; 0 means all
	Seen       bool   `json:",omitempty"` // the file "seen" is made when the first of stdout has come
	Silent     bool   `json:",omitempty"` // stdin is a pipe that nothing comes through and that stays open
}

// answer is what a program does when its arguments begin with these.
type answer struct {
	Args []string
	Act  act
}

// act is what one start of a program does.
type act []op

// op is one thing that a program does.
type op struct {
	Out    string   `json:",omitempty"` // to stdout; {{session}}, {{now}} and the like are filled in
	Err    string   `json:",omitempty"` // to stderr
	Times  int      `json:",omitempty"` // how often Out is written; 0 means once
	Read   string   `json:",omitempty"` // "all" or "line" of stdin
	Sleep  int      `json:",omitempty"` // milliseconds
	Hang   bool     `json:",omitempty"` // until it is ended
	Spawn  string   `json:",omitempty"` // a background process: "group", "session" or "output", which keeps stdout open
	Trap   *int     `json:",omitempty"` // the exit code with which it ends when it is told to by a signal
	Ignore bool     `json:",omitempty"` // SIGINT and SIGTERM do not end it
	Mark   string   `json:",omitempty"` // a file that is made
	Await  string   `json:",omitempty"` // a file that is waited for
	Append string   `json:",omitempty"` // a file below HOME to which Text is added
	Text   string   `json:",omitempty"`
	Trace  *request `json:",omitempty"` // that gh shows on stderr with GH_DEBUG=api
	Exit   *int     `json:",omitempty"`
	Signal string   `json:",omitempty"` // that it ends itself with
}

// request is one of gh's, as its trace shows it.
type request struct {
	Method, URL, Status, Body string
	Header                    []string
	Broke                     string // an error in place of the answer
}

// atStep is the name of what a program does in one of the steps.
func atStep(program string, step int) string { return fmt.Sprintf("%s@%d", program, step) }
