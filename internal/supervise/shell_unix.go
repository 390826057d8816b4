//go:build unix

package supervise

// Shell is the command that runs a line of the user's in a shell.
func Shell(line string) []string { return []string{"sh", "-c", line} }
