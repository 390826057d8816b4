// Package logfile reads the files of the log as they lie on the disk: the one that is written to, and those that were moved aside.
//
// [Files] finds and opens them. A [File] is known by its first line, so that it may be moved, and a place in it by what stands before. [File.Text] and [File.Lines] read
// whole lines from a place on. A member of a fleet notes with [WriteShipped] how far they have been shipped, and nothing is pruned before that.
package logfile
