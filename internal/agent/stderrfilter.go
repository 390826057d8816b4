package agent

// StderrFilter is a [Follower] of a CLI that was made to say more on its standard error than its caller asked for, such as what
// it tries again by itself. It is never asked by two goroutines at once.
type StderrFilter interface {
	// FilterStderr takes a line of it, without its end; the line is not valid afterwards. known is false if it tells nothing. The info
	// says how the attempt stands as a whole, as that of [Follower.Line] does. show says that the line is for the caller.
	FilterStderr(line []byte) (info LineInfo, known, show bool)
	// StderrBegins says of the begin of a line whether it may be for us. What is not is passed on at once.
	StderrBegins(begin []byte) bool
}
