// Package terminal lends our terminal to a command, and does for it what a shell does for its only job.
//
// A command that has a process group of its own must be the foreground group of the terminal: else it is stopped when it reads from it, and Ctrl-C does not
// reach it. [Open] takes the controlling terminal, [Terminal.Lend] gives it to a child that has just started, and [Terminal.Release] takes it back at the end, with
// the modes that it had. Meanwhile, when the child is suspended (Ctrl-Z) so are we, and when we are continued so is it.
//
// A Ctrl-C and a change of size that come between the start of the child and the moment it has the terminal are passed on; a child that has asked for the
// terminal by then, and was stopped for that, is continued.
//
// On Windows there is nothing to lend: the console reaches all processes attached to it.
package terminal
