// Package supervise starts a command, watches it, and leaves nothing of it behind.
//
// A [Spec] says what to start and which limits hold: a hard deadline, a stall limit (no sign of life), and how
// long it may linger after it has delivered. [Supervisor.Run] runs it, without a shell, and returns how it ended as an
// [Exit]; meanwhile a [Process] is the handle for others to stop or signal it.
//
// Stopping a command means stopping its whole tree. A [Ladder] says which signals the command itself gets and how
// long it may take over each; whatever descendant is left then is ended too, also one that has left the process
// group or the session. How well that can be proved depends on the Supervisor:
//
//   - The zero [Supervisor] is for libraries. It changes nothing of the process it runs in: it signals the group
//     and walks the process table, finding strays by their parents and by two marks: [RunIDVar] in their environment,
//     and on Linux a limit (see package proctable) that is set once the command has started. It cannot adopt orphans. A
//     descendant whose parent had ended before the stop, that leads a session of its own, and has lost its environment
//     and its limits or was started before the mark, is not found, and lives on.
//   - [Own] is for a program that owns its process, on Linux. It becomes the reaper of all orphaned descendants and
//     does all waiting in one place, so that the kernel's "no children left" (ECHILD) is the proof. A program that
//     has called Own must not start processes in any other way: their exit statuses would be taken away, and they
//     would be taken for a part of what runs.
//
// An owner finds orphans that show nothing of where they come from, because they become its children. If several of its
// runs were under way when one appeared, it is left alone until the last of them has ended: it is ended if that one
// was stopped, and reported in its [Exit] if it ended by itself. What a run that ended by itself has left running is not
// touched when a later one is stopped. Neither are children that the process had before its first run, nor an orphan that one
// of those may have left.
//
// [Records] of the runs under way let a later start find what a killed one left behind ([Records.Reclaim]).
//
// On macOS the tree is found by its group and by parent; on Windows a job object holds it.
//
// The rooms of the package are packages that it alone imports. proctable knows the processes of the system and the marks of runs, runrecord the records and what a killed
// owner has left, stream what a command writes, terminal job control, ceiling how much memory and disk a tree uses, executable what is started for a
// name, and detach programs that go on without us. What is here is the course of a run: [Supervisor.Run] starts the root of a tree, the watch knows
// its limits and climbs the ladder, and the end of the tree is proved by the owner, or by a walk over all processes.
package supervise
