// Package fleet has the tasks of a batch done by the machines of a fleet. belayd, which knows the queue, is at the other end of a [Line]: it is told of tasks
// and reports what machines do, in the words of package fleetpipe. A result is kept by the fleet until it is written down.
package fleet
