package agent

// A CLI may tell beside its events what others tell in them. A [Follower] that knows where implements one of these. It is
// never asked by two goroutines at once.

// StderrReader is a [Follower] of a CLI that says on its standard error that it tries again by itself.
type StderrReader interface {
	// StderrLine takes a line of it, without its end; the line is not valid afterwards. ok is false if it tells nothing. The
	// info says how the attempt stands as a whole, as that of [Follower.Line] does.
	StderrLine(line []byte) (info LineInfo, ok bool)
}

// RecordReader is a [Follower] of a CLI that keeps a record of its own, which tells what its events do not: what a model call
// has used, or, where there are no events, that it is alive.
type RecordReader interface {
	// Look says what is new on record, which is a sign of life; ok is false if nothing is. It is asked now and then, and more
	// often for a moment after a line that says that the model will be asked once more.
	Look() (info LineInfo, ok bool)
}

// ExitCoder is a [Follower] of a CLI whose exit code depends on the form of its output, where it was started with another
// form than its caller asked for.
type ExitCoder interface {
	// ExitCode is what the CLI would have ended with.
	ExitCode(code int) int
}
