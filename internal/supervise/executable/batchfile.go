package executable

import (
	"errors"
	"fmt"
	"strings"
)

// Windows runs batch files by cmd, which reads the command line before the batch file does: what is an argument to us may be a
// variable, a redirection or a further command to cmd. The commands that npm installs, such as claude and codex, are batch files.

// errBatchLines says why a batch file is not started. cmd would cut the argument at the end of its first line.
var errBatchLines = errors.New("it is a batch file, which would get only the first line of an argument with several lines; pass the text on stdin")

// batchLine is the line for cmd that gives a batch file these arguments, as they are.
func batchLine(path string, args []string) (string, error) {
	if strings.ContainsAny(path, "\"%\r\n") {
		return "", errors.New("cmd cannot run a batch file of this name")
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /c ""` + path + `"`) // extensions on, no !variables!, nothing from the registry
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n") {
			return "", errBatchLines
		}
		b.WriteByte(' ')
		writeBatchArg(&b, arg)
	}
	b.WriteByte('"')
	return b.String(), nil
}

// writeBatchArg writes an argument such that cmd passes it on as it is, and a program takes it for one argument.
func writeBatchArg(b *strings.Builder, arg string) {
	const plain = `#$*+-./:?@\_`
	quote := arg == "" || strings.HasSuffix(arg, `\`) || strings.ContainsFunc(arg, func(r rune) bool {
		return r < 0x80 && !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(plain, r)) || r >= 0x80 && r < 0xa0
	})
	if quote {
		b.WriteByte('"')
	}
	backslashes := 0
	for i := range len(arg) {
		switch c := arg[i]; c {
		case '\\':
			backslashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `"`) // twice as many before a quote, which is doubled
			backslashes = 0
		case '%':
			b.WriteString(`%%cd:~,`) // with the % that follows: a %, and a part of a variable that is empty
			backslashes = 0
		default:
			backslashes = 0
		}
		b.WriteByte(arg[i])
	}
	if quote {
		b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	}
}

// npmShim is what a batch file of npm's starts.
type npmShim struct {
	Interpreter string // such as node; empty if the target is an executable
	Options     []string
	Target      string // relative to the directory of the batch file
}

// parseNPMShim reads a batch file that npm has made for the command of a package. ok is false for any other: it may do more than
// to start a program.
func parseNPMShim(text string) (s npmShim, ok bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text, ok = strings.CutPrefix(text, "@ECHO off\nGOTO start\n:find_dp0\nSET dp0=%~dp0\nEXIT /b\n:start\nSETLOCAL\nCALL :find_dp0\n")
	if !ok {
		return npmShim{}, false
	}
	line := strings.TrimSpace(text)
	if choice, last, found := strings.Cut(line, "\n\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\""); found {
		rest, ok := strings.CutPrefix(choice, `IF EXIST "%dp0%\`)
		if !ok {
			return npmShim{}, false
		}
		s.Interpreter, _, _ = strings.Cut(rest, `.exe"`)
		if choice != fmt.Sprintf("IF EXIST \"%%dp0%%\\%[1]s.exe\" (\n  SET \"_prog=%%dp0%%\\%[1]s.exe\"\n) ELSE (\n  SET \"_prog=%[1]s\"\n  SET PATHEXT=%%PATHEXT:;.JS;=;%%\n)",
			s.Interpreter) || s.Interpreter == "" || strings.ContainsAny(s.Interpreter, `/\%`) {
			return npmShim{}, false
		}
		line = last
	}
	before, rest, ok := strings.Cut(line, `"%dp0%\`)
	target, end, ok2 := strings.Cut(rest, `"`)
	s.Options, s.Target = strings.Fields(before), target
	if !ok || !ok2 || strings.TrimSpace(end) != "%*" || target == "" || strings.ContainsAny(before+target, "%\"&|<>^\n") || s.Interpreter == "" && len(s.Options) > 0 {
		return npmShim{}, false
	}
	return s, true
}
