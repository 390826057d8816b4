//go:build linux

package main

import "strings"

// sleeper is a process of a tree: it tells its pid and stays.
const sleeper = `sh -c 'echo $$ > up; exec sleep 300'`

// treeShape is a process tree that is hard to end, as a script that leaves the shell running. Each process that counts
// writes its pid to the pipe up, and so do n in all.
type treeShape struct {
	name, script string
	n            int
	loud         bool   // it keeps the output of the command open
	root         string // what the command itself does first; it is what is hard to end then
}

var treeShapes = []treeShape{
	{name: "Group", n: 2, script: sleeper + ` & ` + sleeper + ` &`},
	{name: "Wide", n: 12, script: `for i in 1 2 3 4; do ` + sleeper + ` & setsid ` + sleeper + ` & (setsid ` + sleeper + ` &) done`},
	{name: "Deep", n: 1, script: `sh deep.sh 8 &`},
	{name: "DoubleFork", n: 1, script: `( (` + sleeper + ` &) & )`},
	{name: "Session", n: 1, script: `setsid ` + sleeper + ` &`},
	{name: "SessionOrphan", n: 1, script: `(setsid ` + sleeper + ` &)`},
	{name: "OwnGroup", n: 1, script: `perl -e 'setpgrp(0, 0); exec "sh", "-c", "echo \$\$ > up; exec sleep 300"' &`},
	{name: "Nohup", n: 1, script: `nohup ` + sleeper + ` &`},
	{name: "HoldsStdout", n: 2, loud: true, script: `setsid ` + sleeper + ` & ` + sleeper + ` &`},
	{name: "Wiped", n: 1, script: `env -i ` + sleeper + ` &`},
	{name: "WipedOrphan", n: 1, script: `(setsid env -i ` + sleeper + ` &)`},
	// sudo with a pseudo terminal has a monitor in a session of its own.
	{name: "Sudo", n: 1, script: `env -i HOME=/ USER=root LOGNAME=root PATH="$PATH" setsid sh -c "` + sleeperQuoted + ` & wait" &`},
	// A daemon that writes over its environment, which the kernel then shows as its environment, and leaves the directory.
	{name: "Rewritten", n: 1, script: `(setsid perl -e '$0 = "x" x 3000; open(F, ">", "up"); print F "$$\n"; close(F); chdir("/"); sleep 300' &)`},
	{name: "ExecChain", n: 1, script: `sh -c 'exec env -i sh -c "exec sh -c \"exec setsid sh -c \\\"echo \\\\\\\$\\\\\\\$ > up; exec sleep 300\\\"\""' &`},
	{name: "IgnoresTERM", n: 1, script: `(setsid sh -c 'trap "" TERM HUP; echo $$ > up; exec sleep 300' &)`},
	{name: "IgnoresAll", n: 1, script: `(setsid env -i sh -c 'trap "" TERM INT HUP QUIT; echo $$ > up; exec sleep 300' &)`},
	{name: "Stopped", n: 1, script: `(setsid env -i sh -c 'echo $$ > up; kill -STOP $$; exec sleep 300' &)`},
	{name: "ForksWhenTold", n: 1, script: `(setsid env -i sh -c 'trap "setsid sleep 300 &" TERM INT HUP; echo $$ > up; while :; do sleep 0.1; done' &)`},
	// Each generation forks the next and ends, in a session of its own: a walk over the process table can miss it.
	{name: "ForksOnAndOn", n: 1, script: `perl -MPOSIX -e 'open(F, ">", "up"); print F "$$\n"; close(F); for (1..20000) { exit 0 if fork; POSIX::setsid(); select undef, undef, undef, 0.005 }' &`},
	// It stays when told to end, and starts one whose origin only the one who adopts it knows: belay must not be killed before it.
	{name: "StubbornForks", n: 1, script: sleeper + ` &`, root: `trap "(setsid ` + unmarked + `sleep 300 < /dev/null > /dev/null 2>&1 &)" TERM INT HUP; `},
	{name: "StubbornRoot", n: 1, script: sleeper + ` &`, root: `trap "" TERM INT HUP; `},
	// su and PAM set limits anew: then only the one who adopts it knows where it comes from.
	{name: "LimitsReset", n: 1, script: `(setsid ` + unmarked + sleeper + ` &)`},
}

// unmarked starts a process without either mark of its run.
const unmarked = `env -i prlimit --locks=unlimited `

// sleeperQuoted is a sleeper within double quotes.
const sleeperQuoted = `sh -c 'echo \$\$ > up; exec sleep 300'`

// deepScript is a chain of shells that wait for each other.
const deepScript = `if [ "$1" -gt 0 ]; then sh deep.sh $(($1 - 1)); else ` + sleeper + `; fi; :
`

// command is the script of the command whose tree it is. It goes on with then, once it is told that all of the tree stands.
func (s treeShape) command(then string) string {
	script := `{ ` + s.script + ` } < /dev/null > /dev/null 2>&1`
	if s.loud {
		script = s.script
	}
	return s.root + script + "\n" + then
}

// What the command does once its tree stands.
const (
	untilTold = `read told < go; `
	stays     = `while :; do ` + stay + `; done`
	stay      = `sleep 301` // told apart from the sleepers of the tree
)

// treeEnding is a way in which a command ends, or is made to.
type treeEnding struct {
	name  string
	flags []string
	then  string
	end   func(c *treeCell) // once the tree stands; nil if belay ends it by itself
	code  int               // that belay then ends with; 0 if that is not looked at
	pty   bool
}

// treeEndings are the endings of each of belay's commands.
var treeEndings = map[string][]treeEnding{
	"run": {
		{name: "Success", flags: []string{"--reap"}, then: untilTold + `exit 0`, end: (*treeCell).tell},
		{name: "Failure", flags: []string{"--timeout", "10m"}, then: untilTold + `exit 3`, end: (*treeCell).tell, code: 3},
		{name: "Timeout", flags: []string{"--timeout", "1"}, then: stays, code: 124},
		{name: "TimeoutRetried", flags: []string{"--timeout", "1", "--retry-timeouts", "1", "--base-delay", "0"}, then: stays, code: 124},
		{name: "TotalTimeout", flags: []string{"--total-timeout", "1"}, then: stays, code: 124},
		{name: "Stall", flags: []string{"--stall-timeout", "1"}, then: stays, code: 124},
		{name: "TERM", then: stays, end: signalled("TERM"), code: 143},
		{name: "TERMHeld", flags: []string{"--max-retries", "3", "--stream"}, then: stays, end: signalled("TERM"), code: 143},
		{name: "INT", then: stays, end: signalled("INT"), code: 130},
		{name: "HUP", then: stays, end: signalled("HUP"), code: 129},
		{name: "Cancel", then: stays, end: (*treeCell).cancel, code: 143},
		{name: "KILL", then: stays, end: (*treeCell).kill},
		{name: "CtrlC", flags: []string{"--reap"}, then: stays, end: (*treeCell).ctrlC, pty: true},
		{name: "GroupTERM", then: stays, end: (*treeCell).signalGroup, code: 143},
	},
	"batch": {
		{name: "Success", flags: []string{"--reap"}, then: untilTold + `exit 0`, end: (*treeCell).tell},
		{name: "Timeout", flags: []string{"--timeout", "1"}, then: stays},
		{name: "Deadline", flags: []string{"--deadline", "2s"}, then: stays},
		{name: "TERM", then: stays, end: signalled("TERM")},
		{name: "INT", then: stays, end: signalled("INT")},
		{name: "HUP", then: stays, end: signalled("HUP")},
		{name: "Cancel", then: stays, end: (*treeCell).cancel},
		{name: "KILL", then: stays, end: (*treeCell).kill},
	},
	"detached": {
		{name: "Success", flags: []string{"--reap"}, then: untilTold + `exit 0`, end: (*treeCell).tell},
		{name: "Timeout", flags: []string{"--timeout", "1"}, then: stays},
		{name: "TERM", then: stays, end: signalled("TERM")},
		{name: "Cancel", then: stays, end: (*treeCell).cancel},
		{name: "KILL", then: stays, end: (*treeCell).kill},
	},
	// Of a job, on the machine that works on it.
	"fleet": {
		{name: "Success", flags: []string{"--reap"}, then: untilTold + `exit 0`, end: (*treeCell).tell},
		{name: "Timeout", flags: []string{"--timeout", "1"}, then: stays},
		{name: "WorkerKILL", then: stays, end: (*treeCell).killWorker},
		{name: "INTTwice", then: stays, end: (*treeCell).interruptTwice},
		{name: "WorkerTERM", then: stays, end: (*treeCell).workerLeaves},
		{name: "Cancel", then: stays, end: (*treeCell).cancel},
		{name: "KILL", then: stays, end: (*treeCell).killWorkerAndRun},
	},
	// Of the check of a command that has ended. What it starts always ends with it.
	"check": {
		{name: "Success", then: untilTold + `exit 0`, end: (*treeCell).tell},
		{name: "Failure", then: untilTold + `exit 3`, end: (*treeCell).tell, code: 1},
		{name: "Timeout", flags: []string{"--check-timeout", "1"}, then: stays, code: 1},
		{name: "TotalTimeout", flags: []string{"--total-timeout", "1"}, then: stays, code: 124},
		{name: "TERM", then: stays, end: signalled("TERM"), code: 143},
		{name: "INT", then: stays, end: signalled("INT"), code: 130},
		{name: "HUP", then: stays, end: signalled("HUP"), code: 129},
		{name: "Cancel", then: stays, end: (*treeCell).cancel, code: 143},
		{name: "KILL", then: stays, end: (*treeCell).kill},
		{name: "CtrlC", then: stays, end: (*treeCell).ctrlC, pty: true},
		{name: "GroupTERM", then: stays, end: (*treeCell).signalGroup, code: 143},
	},
	"hook": {
		{name: "Success", then: untilTold + `exit 0`, end: (*treeCell).tell},
		{name: "Block", then: untilTold + `exit 2`, end: (*treeCell).tell},
		{name: "Failure", then: untilTold + `exit 5`, end: (*treeCell).tell},
		{name: "Timeout", flags: []string{"--timeout", "1"}, then: stays},
		{name: "TERM", then: stays, end: signalled("TERM")},
		{name: "INT", then: stays, end: signalled("INT")},
		{name: "HUP", then: stays, end: signalled("HUP")},
		{name: "KILL", then: stays, end: (*treeCell).kill},
		{name: "CtrlC", then: stays, end: (*treeCell).ctrlC, pty: true},
	},
	"mcp": {
		{name: "ClientLeaves", then: `cat > /dev/null; exit 0`, end: (*treeCell).leave},
		{name: "ClientLeavesServerStays", then: stays, end: (*treeCell).leave},
		{name: "Crash", then: untilTold + `exit 3`, end: (*treeCell).tellAndLeave},
		{name: "ClosesStdout", then: untilTold + `exec >&-; ` + stays, end: (*treeCell).tellAndWatch},
		{name: "Timeout", flags: []string{"--start-timeout", "1s", "--hang-timeout", "1s"}, then: stays, end: (*treeCell).askAndLeave},
		{name: "TERM", then: stays, end: signalled("TERM")},
		{name: "INT", then: stays, end: signalled("INT")},
		{name: "HUP", then: stays, end: signalled("HUP")},
		{name: "KILL", then: stays, end: (*treeCell).kill},
	},
}

// impossible says why there is no such cell; empty if there is one.
func impossible(shape treeShape, ending treeEnding) string {
	switch {
	case strings.Contains(shape.root+shape.script, unmarked) && ending.name == "KILL":
		return "nothing marks it, and who could adopt it is dead"
	case shape.root != "" && ending.name == "CtrlC":
		return "a command that ignores Ctrl-C goes on, as it does without belay"
	}
	return ""
}
