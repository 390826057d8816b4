// Package wire reads the lines that an MCP client and its server exchange, as far as a proxy has to know them.
//
// A [Splitter] cuts a stream into lines, and a scanner reads the [Envelope] of each as it comes: id, method, and the few fields that say which
// tool or progress is meant. Arguments and results are skipped at the speed of memory, and are never decoded. A [Message] is the very bytes
// of a line with its envelope; it can be sent on as it is, or with another id in its place ([Message.Splice]).
//
// What is to be changed in a line is found by [Locate] and replaced where it stands, so that all else stays as it was written.
package wire
