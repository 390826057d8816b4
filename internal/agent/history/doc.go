// Package history finds out why a service refuses the history of a session, and mends a copy of its record.
//
// A CLI keeps the record of a session as lines of JSON, of which some are sent to the service with each request. Its [Format] says what a line adds to that: texts, calls of
// tools, their results, images. [Examine] reads a record once and finds every [Flaw], and the smallest cut that mends each one: a pair is completed, a part that is
// refused is left out, a torn line is dropped. [Report.Mend] writes the record anew, under another id. The record itself is only ever read.
//
// Records are hostile input: a tool may have put anything into them. A line is at most [maxLine] long, a record at most [maxRecord], and no more than a line is kept.
package history
