// Package detach lets a command start later, and go on by itself after the terminal is gone: --at, --when-lifted and --detach of belay run and belay batch
// ([Later]), and belay attach.
//
// A command that is detached is started again, in a session of its own, with the same command line ([Start], [Execute]). Its [Detachment] knows the id of the
// run and says when it is on its way; its output is spooled until it is shown ([Delivery]).
package detach
