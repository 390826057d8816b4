// Package record is the record that commands such as belay log query: observability.sqlite in the state directory.
//
// The log (package journal) is what happened; the database is made from it and can be made again. [Open] opens it, and
// makes or migrates it first where that is needed; one that is damaged is set aside and begun anew (package database).
//
// Fold brings it up to date: every line of the log is folded in exactly once, however many processes do so at the same time and wherever
// they are killed, because how far the log has been read stands in the same transaction as the rows. Nothing here takes a
// lock that a run takes. A line goes this way:
//
//	logfile      the files of the log: those that were moved aside, and the one that is written to
//	fold.go      takes the next lines of a file, in pieces; fleet.go takes those of all machines of a fleet
//	line.go      reads an entry from a line, and says what it adds to the sums
//	apply.go     makes rows of lines: first those of attempts and runs (attempts.go), then of failures (failures.go), sessions (session.go),
//	             what is to be sent as traces (outbox.go), and the sums (sums.go, meters.go)
//	rows.go      puts rows into a table, many at a time
//
// What a table has columns for is in schema.go, which is only ever added to. What runs add up to is one table, in figures.go: a new figure is a row there.
//
// The parts of a [DB] answer questions: [Runs] about runs, their attempts and the trees of them, [Sessions] about agents' conversations, [Trail] about
// failures and what people have changed, [Stats] about what runs add up to, [Alerts] and [Outbox] about what is still to be delivered. Which rows are meant
// says a [Filter].
//
// Prune removes what is old: rows, files of the log of which every line is on record, and files of sessions.
package record
