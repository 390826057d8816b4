// Package batch runs many tasks, a few at a time, so that a night's work survives the night.
//
// Tasks come from a [Source]: a file, a directory, or a copy of what came on stdin (package tasks). [Check] reads all of them once, before anything starts, and finds what is
// wrong with them; what it keeps is the [Plan], a few bytes of each task, since a million of them must fit. A [Stream] is for tasks that are still being written:
// they are checked as they come.
//
// What is done is in the [Ledger], the file of results: one line a task, in the order in which they end, and only ever appended to. What is being done is in the
// journal beside it: who has the results, which tasks were started, in which session an agent works on each, and what it has cost so far. The journal is locked
// while the batch runs and gone when all tasks are over. Neither file is trusted to be as it was left: a torn line is cut, and results that
// another program has taken away are written again as long as the batch has them, or reported.
//
// [Batch.Run] is the scheduler. Its workers take the next task that may start ([Batch.Do] is what it takes to run one), as many at a time as the user has said or as
// package level finds the service and the machine to take. A task that depends on others waits for them; one that meets a limit is paused and taken up again in its session;
// one that could not be started for lack of memory or files lowers the level. The batch stops for a key that is not accepted, for too many failures, at a limit
// on cost, at its deadline, and when results cannot be written; what runs then may end.
//
// After a kill -9 the same command goes on: [Ledger.Load] tells the plan which tasks are done, and the journal which were running. Those are begun again, in the
// session in which an agent was working on them where that is known ([Resumed]), else from their beginning ([Restarted]). What their earlier tries have cost counts. So a task whose
// effect is outside of Belay may have been done twice if the batch was killed between the effect and the line of its result; that cannot be prevented here.
//
// Others see how a batch stands by [ReadStatus], which reads both files and changes nothing, and which batches there are by [Registry].
package batch
