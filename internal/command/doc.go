// Package command is what the commands of belay share, and knows no single one of them. A command is a folder below: options from its flags, a function
// that does it, and words; internal/command/belay lists those that belay links.
//
// A command reads and writes [Streams]. Its flags are those of cobra, with values of ours ([AddText], [MemoryFlag]), and, where it takes settings, a flag for
// each of them ([AddSettings]). It refuses what makes no sense with [Usage], fails with [Fail] and ends with [Exit]; [CodeOf] makes of that what is
// printed last, and the exit code. What weighs too much for every call is handed over to belayd ([HandOver]).
package command
