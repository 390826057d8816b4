package executable

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"

	"github.com/belay-run/belay/internal/safefile"
)

// maxShim bounds what is read of a batch file; those of npm have a few hundred bytes.
const maxShim = 16 << 10

// isBatch reports whether the path names a batch file.
func isBatch(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd":
		return true
	}
	return false
}

// Program is what is started for a command: the command itself, the program that a batch file of npm's starts, or cmd for any other
// batch file, with its whole command line.
func Program(path string, args []string) (program string, argv []string, line string, err error) {
	program, argv, line, err = started(path, args)
	if err != nil {
		err = &lookFailure{fmt.Sprintf("%s cannot be started: %v", path, err), os.ErrPermission}
	}
	return program, argv, line, err
}

func started(path string, args []string) (program string, argv []string, line string, err error) {
	if line, ok := shellLine(args); ok {
		return path, args, line, nil
	}
	if !isBatch(path) || len(args) == 0 {
		return path, args, "", nil
	}
	if program, before, ok := npmProgram(path); ok {
		return program, append(before, args[1:]...), "", nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", nil, "", err
	}
	if line, err = batchLine(full, args[1:]); err != nil {
		return "", nil, "", err
	}
	system, err := windows.GetSystemDirectory()
	return filepath.Join(system, "cmd.exe"), args, line, err
}

// npmProgram is the program that a batch file of npm's starts, and its first arguments, the program's own name included.
func npmProgram(path string) (program string, before []string, ok bool) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return "", nil, false
	}
	defer f.Close()
	buf := make([]byte, maxShim)
	n, _ := f.Read(buf)
	shim, ok := parseNPMShim(string(buf[:n]))
	if !ok {
		return "", nil, false
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", nil, false
	}
	target := filepath.Join(filepath.Dir(full), shim.Target)
	if _, err := os.Stat(target); err != nil || isBatch(target) {
		return "", nil, false
	}
	if shim.Interpreter == "" {
		return target, []string{target}, true
	}
	program = filepath.Join(filepath.Dir(full), shim.Interpreter+".exe")
	if _, err := os.Stat(program); err != nil {
		if program, err = Look(shim.Interpreter, ""); err != nil || isBatch(program) {
			return "", nil, false
		}
	}
	return program, append(append([]string{program}, shim.Options...), target), true
}
