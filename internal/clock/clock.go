// Package clock tells the time of day where it is compared with a time that another process has written down: the end of a
// hold, say. A build with the tag clockseam can be told that the clock was set; faketime does not reach Go
// programs. Durations within a process are measured with package time, which no set clock disturbs.
package clock
