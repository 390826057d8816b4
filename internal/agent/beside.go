package agent

// A CLI may tell beside its events what others tell in them. A [Follower] that knows where implements one of these. It is
// never asked by two goroutines at once.

// StderrReader is a [Follower] of a CLI that says on its standard error what others say in events, such as that it tries
// again by itself.
type StderrReader interface {
	// StderrLine takes a line of it, without its end; the line is not valid afterwards. ok is false if it tells nothing. The
	// info says how the attempt stands as a whole, as that of [Follower.Line] does. Its Show counts in either case, for a
	// [StderrFilter] only: all else on stderr is the caller's.
	StderrLine(line []byte) (info LineInfo, ok bool)
}

// StderrFilter is a [StderrReader] of a CLI that was made to say more there than its caller asked for.
type StderrFilter interface {
	StderrReader
	// StderrBegins says of the begin of a line whether the line may be one of those. Of others StderrLine is not asked, and
	// they are passed on at once.
	StderrBegins(begin []byte) bool
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
