package smoke_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/windows"
)

// prepare lets a belay be sent Ctrl-Break without the test.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// Ctrl-C, as far as a program can send it: Ctrl-Break to belay's group. The command has a group of its own, so that belay
// has to stop it.
func TestTree_CtrlBreak(t *testing.T) {
	if cp, err := windows.GetConsoleCP(); cp == 0 {
		t.Skip("there is no console:", err)
	}
	e := newScene(t).exchange()
	c, tree := e.branch("--max-retries", "3")
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.cmd.Process.Pid)); err != nil {
		c.cmd.Process.Kill()
		<-c.ended
		t.Skip("the console sends nothing:", err)
	}
	e.want(c.wait(), 130, "")
	e.gone(tree)
}

// shim is what npm makes for a package's command.
const shim = `@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\pkg\cli.js" %*
`

// A command of npm's is a batch file, which cmd would read the arguments of.
func TestBatch_NPM(t *testing.T) {
	s := newScene(t)
	write(t, filepath.Join(s.dir, "bin", "node.exe"), string(read(t, self)))
	write(t, filepath.Join(s.dir, "bin", "tool.cmd"), strings.ReplaceAll(shim, "\n", "\r\n"))
	write(t, filepath.Join(s.dir, "bin", "node_modules", "pkg", "cli.js"), "")
	s.arguments(filepath.Join(s.dir, "bin", "tool.cmd"), append([]string{"several\nlines\n"}, arguments...))
	s.env = append(s.env, "PATH="+filepath.Join(s.dir, "bin")+";"+os.Getenv("PATH"))
	s.arguments("tool", arguments)
}

// Any other batch file gets what can be said on cmd's command line.
func TestBatch(t *testing.T) {
	s := newScene(t)
	path := filepath.Join(s.dir, "a b", "tool.bat")
	write(t, path, "@\""+self+"\" child args %*\r\n")
	s.arguments(path, slices.DeleteFunc(slices.Clone(arguments), func(arg string) bool {
		return strings.Contains(arg, `" `) || // programs differ in what they make of a quote within quotes
			strings.Contains(arg, "%") && onWine() // whose cmd reads variables otherwise
	}))
	got := s.belay("run", "--", path, "several\nlines")
	if got.code != 126 || !strings.Contains(got.stderr, "line") {
		t.Errorf("%+v", got)
	}
}

// onWine reports whether this is Wine.
func onWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// arguments checks what comes of arguments for a command that prints them.
func (s *scene) arguments(command string, args []string) {
	s.Helper()
	for _, arg := range args {
		got := s.belay("run", "--", command, "x", arg)
		s.want(got, 0, "*")
		var list []string
		if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || !slices.Equal(list[max(0, len(list)-2):], []string{"x", arg}) {
			s.Errorf("%q: %v: %s%s", arg, err, got.stdout, got.stderr)
		}
	}
}
