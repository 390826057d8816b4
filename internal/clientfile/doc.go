// Package clientfile edits the files in which agent CLIs keep their hooks and MCP servers. It puts belay in front of the
// commands in them, and takes it away again.
//
// [Clients] is the table of all clients and their files. [Read] reads one of them, JSON with or without comments or TOML,
// without decoding it: [File.Install] and [File.Uninstall] change the few bytes that have to change, so that order, layout,
// comments and unknown keys stay as they are. They return the new text; [File.Replace] writes it, and keeps a copy
// beside the file for as long as belay stands in it. Uninstall undoes Install to the byte, also when the rest of the file has
// changed since. A client that has written the file anew in a layout of its own gets back what it would have written itself.
//
// Hook commands are lines for a shell. A wrapped one gives the same line to the same shell, behind belay:
//
//	./guard.sh | tee log   →   belay hook --name guard.sh --timeout 59s -- "$0" -c './guard.sh | tee log'
//
// In the line that a shell is given with -c, "$0" is that shell. The command of a server, or of a hook that runs without a
// shell, becomes belay, and the command that was there moves, as it is written, to the front of the arguments.
package clientfile
