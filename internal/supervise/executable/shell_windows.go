package executable

// Shell is the command that runs a line of the user's in a shell: see [Program], which hands cmd the line as it is.
func Shell(line string) []string { return []string{"cmd", "/d", "/s", "/c", line} }

// shellLine is the command line of a command of [Shell]; ok is false for any other. cmd takes off the outer quotes.
func shellLine(args []string) (line string, ok bool) {
	if len(args) != 5 || args[0] != "cmd" || args[2] != "/s" || args[3] != "/c" {
		return "", false
	}
	return `cmd.exe /d /s /c "` + args[4] + `"`, true
}
