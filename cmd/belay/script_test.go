//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// TestScripts runs testdata/script/*.txtar. Beside testscript's own commands they have:
//
//	exits CODE cmd…     run it; its exit code is CODE (as a shell shows it), stdout and stderr are looked at next
//	refused REGEXP cmd… it is wrong use: exit 2, nothing on stdout, one line on stderr that matches, nothing written
//	same cmd…           cmd alone and under belay run: same exit code, same bytes on stdout and stderr
//	samesh SCRIPT       the same for a bash script, in which $B stands for env(1) and for belay run --
//	sameall SCRIPT      samesh with each of a number of flags that must not change anything
//	start NAME cmd…     run it in the background, with output to NAME.out and NAME.err
//	signal SIG NAME     signal it; NAME may also be a file that holds a process id
//	ended NAME CODE     it ends, with this exit code
//	await FILE [REGEXP] the file appears, and comes to match
//	alive NAME=VALUE    a process with this in its environment comes to run
//	gone NAME=VALUE     none runs any more
//	json FILE KEY=VALUE… KEY~REGEXP…   it is a whole result (SPEC 11), with these values
//	lines FILE N        it has N lines
//	mount [-o OPTIONS] DIR   put an empty file system there until the end of the script
//
// exits, refused, same and start take their stdin from -file F or -pipe F, else from the null device. $ID is different
// in each script, and in the environment of everything it starts as E2E_ID. Commands get their environment from
// env(1): testscript's env does not reach them.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:         "testdata/script",
		WorkdirRoot: t.TempDir(), // which is removed also after a failure
		Setup: func(e *testscript.Env) error {
			id := filepath.Base(e.WorkDir) + "-" + strconv.Itoa(os.Getpid())
			s := &script{dir: e.WorkDir, env: environment(programs(t), e.WorkDir, id), jobs: map[string]*job{}}
			e.Vars = append(e.Vars, s.env...)
			e.Vars = append(e.Vars, "ID="+id)
			e.Values[scriptKey{}] = s
			tb := e.T().(testing.TB)
			e.Defer(func() {
				s.end()
				afterwards(tb, e.WorkDir, id)
			})
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "mount":
				return mayMount(), nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": cmdExits, "refused": cmdRefused, "same": cmdSame, "samesh": cmdSamesh, "sameall": cmdSameall,
			"start": cmdStart, "signal": cmdSignal, "ended": cmdEnded, "await": cmdAwait,
			"alive": cmdAlive, "gone": cmdGone, "json": cmdJSON, "lines": cmdLines, "mount": cmdMount,
		},
		ContinueOnError:    true,
		RequireUniqueNames: true,
	})
}

type scriptKey struct{}

// script is the state of one script.
type script struct {
	dir  string
	env  []string
	jobs map[string]*job
}

// job is a command in the background.
type job struct {
	cmd  *exec.Cmd
	code int
	done chan struct{}
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

func (s *script) end() {
	for _, j := range s.jobs {
		j.cmd.Process.Kill()
		<-j.done
	}
}

// command takes the options for stdin off args.
func (s *script) command(ts *testscript.TestScript, args []string) *exec.Cmd {
	var stdin *os.File
	for len(args) > 1 && (args[0] == "-file" || args[0] == "-pipe") {
		f, err := os.Open(ts.MkAbs(args[1]))
		ts.Check(err)
		if args[0] == "-pipe" {
			f = piped(ts, f)
		}
		stdin, args = f, args[2:]
	}
	if len(args) == 0 {
		ts.Fatalf("no command")
	}
	path := args[0]
	if !strings.Contains(path, "/") {
		path = lookIn(s.env, path)
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(slices.Clone(s.env), "PWD="+cmd.Dir)
	if stdin != nil { // a nil *os.File is not a nil io.Reader
		cmd.Stdin = stdin
	}
	return cmd
}

// lookIn finds a command on the PATH of env.
func lookIn(env []string, name string) string {
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			for dir := range strings.SplitSeq(path, ":") {
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode()&0o111 != 0 {
					return filepath.Join(dir, name)
				}
			}
		}
	}
	return name
}

// piped feeds a file through a pipe.
func piped(ts *testscript.TestScript, f *os.File) *os.File {
	r, w, err := os.Pipe()
	ts.Check(err)
	go func() {
		defer f.Close()
		defer w.Close()
		f.WriteTo(w)
	}()
	return r
}

// outcome is what became of a command.
type outcome struct {
	code           int
	stdout, stderr []byte
}

// finish runs a command to its end. Its output goes to files: what it leaves running does not keep us waiting.
func finish(ts *testscript.TestScript, cmd *exec.Cmd) outcome {
	defer closeStdin(cmd)
	var files [2]*os.File
	for i := range files {
		f, err := os.CreateTemp(scriptOf(ts).dir, ".out-*")
		ts.Check(err)
		defer os.Remove(f.Name())
		defer f.Close()
		files[i] = f
	}
	cmd.Stdout, cmd.Stderr = files[0], files[1]
	ts.Check(cmd.Start())
	late := time.AfterFunc(testTimeout, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	inTime := late.Stop()
	var o outcome
	o.code = shellCode(err)
	o.stdout, _ = os.ReadFile(files[0].Name())
	o.stderr, _ = os.ReadFile(files[1].Name())
	if !inTime {
		ts.Fatalf("%.200q did not end within %v\nstdout: %.1000s\nstderr: %.1000s", cmd.Args, testTimeout, o.stdout, o.stderr)
	}
	return o
}

func closeStdin(cmd *exec.Cmd) {
	if f, ok := cmd.Stdin.(*os.File); ok {
		f.Close()
	}
}

// shellCode is what a shell has in $? for what [exec.Cmd.Wait] returns.
func shellCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &exit):
		return -1
	}
	if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return exit.ExitCode()
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE [-file F|-pipe F] cmd…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	o := finish(ts, scriptOf(ts).command(ts, args[1:]))
	ts.Stdout().Write(o.stdout)
	ts.Stderr().Write(o.stderr)
	if o.code != want {
		ts.Fatalf("exit code %d, want %d", o.code, want)
	}
}

func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refused REGEXP [-file F|-pipe F] cmd…")
	}
	s := scriptOf(ts)
	o := finish(ts, s.command(ts, args[1:]))
	ts.Stdout().Write(o.stdout)
	ts.Stderr().Write(o.stderr)
	line, rest, whole := strings.Cut(string(o.stderr), "\n")
	switch {
	case o.code != 2:
		ts.Fatalf("exit code %d, want 2", o.code)
	case len(o.stdout) > 0:
		ts.Fatalf("stdout is not empty")
	case !whole || rest != "" || !strings.HasPrefix(line, "belay: "):
		ts.Fatalf("stderr is not one line of belay's")
	case !regexp.MustCompile(args[0]).MatchString(line):
		ts.Fatalf("stderr does not match %q", args[0])
	}
	if _, err := os.Lstat(filepath.Join(s.dir, "state")); err == nil {
		ts.Fatalf("the state directory was made")
	}
}

func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: start NAME [-file F|-pipe F] cmd…")
	}
	s := scriptOf(ts)
	name := args[0]
	cmd := s.command(ts, args[1:])
	for _, stream := range []struct {
		ext string
		to  func(*os.File)
	}{{".out", func(f *os.File) { cmd.Stdout = f }}, {".err", func(f *os.File) { cmd.Stderr = f }}} {
		f, err := os.Create(ts.MkAbs(name + stream.ext))
		ts.Check(err)
		defer f.Close()
		stream.to(f)
	}
	defer closeStdin(cmd)
	ts.Check(cmd.Start())
	j := &job{cmd: cmd, done: make(chan struct{})}
	s.jobs[name] = j
	go func() {
		j.code = shellCode(cmd.Wait())
		close(j.done)
	}()
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signal SIG NAME|FILE")
	}
	sig := unix.SignalNum("SIG" + args[0])
	if sig == 0 {
		ts.Fatalf("no such signal: %s", args[0])
	}
	if j := scriptOf(ts).jobs[args[1]]; j != nil {
		ts.Check(j.cmd.Process.Signal(sig))
		return
	}
	ts.Check(unix.Kill(pidIn(ts, args[1]), sig))
}

// pidIn reads a process id from a file.
func pidIn(ts *testscript.TestScript, file string) int {
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(file)))
	if err != nil || pid <= 1 {
		ts.Fatalf("%s holds no process id", file)
	}
	return pid
}

func cmdEnded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ended NAME CODE")
	}
	j := scriptOf(ts).jobs[args[0]]
	if j == nil {
		ts.Fatalf("nothing was started as %s", args[0])
	}
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	select {
	case <-j.done:
	case <-time.After(testTimeout):
		ts.Fatalf("%s has not ended within %v", args[0], testTimeout)
	}
	ts.Stdout().Write([]byte(ts.ReadFile(args[0] + ".out")))
	ts.Stderr().Write([]byte(ts.ReadFile(args[0] + ".err")))
	if j.code != want {
		ts.Fatalf("exit code %d, want %d", j.code, want)
	}
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await FILE [REGEXP]")
	}
	re := regexp.MustCompile("")
	if len(args) == 2 {
		re = regexp.MustCompile("(?m)" + args[1])
	}
	var data []byte
	var err error
	if !within(testTimeout, func() bool {
		data, err = os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && re.Match(data)
	}) {
		ts.Fatalf("not within %v; %s: %v %.1000s", testTimeout, args[0], err, data)
	}
}

func cmdAlive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: alive NAME=VALUE")
	}
	if !within(testTimeout, func() bool { return len(marked(args[0])) > 0 }) {
		ts.Fatalf("no process has %s", args[0])
	}
}

func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone NAME=VALUE")
	}
	var left []proc
	// What was killed takes a moment to go; what was not stays.
	if !within(testTimeout, func() bool { left = marked(args[0]); return len(left) == 0 }) {
		ts.Fatalf("still there: %v", left)
	}
}

// resultKeys are always there, whatever happened (SPEC 11).
var resultKeys = strings.Fields(`schema_version id success result errors error error_type retryable retry_at sent session_id
	resumed fallback usage duration_ms attempts total_wait_time profile exit_code child_exit_code orphans_killed log
	provider model http_status`)

var usageKeys = strings.Fields(`input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens total_cost_usd`)

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: json FILE [KEY=VALUE|KEY~REGEXP]…")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("not one line:\n%s", text)
	}
	var result map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&result); err != nil {
		ts.Fatalf("%v in:\n%s", err, text)
	}
	usage, _ := result["usage"].(map[string]any)
	for i, keys := range [][]string{resultKeys, usageKeys} {
		for _, key := range keys {
			if _, ok := []map[string]any{result, usage}[i][key]; !ok {
				ts.Fatalf("%s is missing in:\n%s", key, text)
			}
		}
	}
	for _, arg := range args[1:] {
		i := strings.IndexAny(arg, "=~")
		if i < 0 {
			ts.Fatalf("neither = nor ~ in %s", arg)
		}
		key, op, want := arg[:i], arg[i], arg[i+1:]
		value, ok := result[key].(string)
		if !ok {
			data, _ := json.Marshal(result[key])
			value = string(data)
		}
		if op == '=' && value != want || op == '~' && !regexp.MustCompile(want).MatchString(value) {
			ts.Fatalf("%s is %s in:\n%s", arg, value, text)
		}
	}
}

func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	if n := strings.Count(ts.ReadFile(args[0]), "\n"); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%d lines, want %s", n, args[1])
	}
}

// cmdSame is the first rule: with no flags, belay run behaves as the command.
func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: same [-file F|-pipe F] cmd…")
	}
	options := 0
	for options+1 < len(args) && (args[options] == "-file" || args[options] == "-pipe") {
		options += 2
	}
	wrapped := slices.Concat(args[:options], []string{"belay", "run", "--"}, args[options:])
	s := scriptOf(ts)
	compare(ts, finish(ts, s.command(ts, args)), finish(ts, s.command(ts, wrapped)))
}

func cmdSamesh(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: samesh SCRIPT")
	}
	compare(ts, bash(ts, args[0], "env"), bash(ts, args[0], "belay run --"))
}

// unused are settings that change nothing for a command that works, whatever they would do for another.
var unused = []string{
	"--timeout 60",
	"--stall-timeout 60",
	"--total-timeout 60",
	"--max-retries 0",
	"--max-retries 2",
	"--max-retries 2 --stream",
	"--retry-on never-printed",
	"--fail-on never-printed",
	"--max-retries 2 --timeout 60 --stall-timeout 60 --total-timeout 60 --replay-stdin --reap",
}

func cmdSameall(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sameall SCRIPT")
	}
	bare := bash(ts, args[0], "env")
	for _, flags := range unused {
		ts.Logf("%s", flags)
		compare(ts, bare, bash(ts, args[0], "belay run "+flags+" --"))
	}
}

// bash runs a script in which $B stands for b.
func bash(ts *testscript.TestScript, script, b string) outcome {
	cmd := scriptOf(ts).command(ts, []string{"bash", "-c", script})
	cmd.Env = append(cmd.Env, "B="+b)
	return finish(ts, cmd)
}

func compare(ts *testscript.TestScript, bare, wrapped outcome) {
	ts.Stdout().Write(wrapped.stdout[:min(len(wrapped.stdout), 4096)])
	ts.Stderr().Write(wrapped.stderr[:min(len(wrapped.stderr), 4096)])
	if bare.code != wrapped.code {
		ts.Logf("bare stderr: %s", bare.stderr)
		ts.Fatalf("exit code %d, bare %d", wrapped.code, bare.code)
	}
	for _, s := range []struct {
		name          string
		bare, wrapped []byte
	}{{"stdout", bare.stdout, wrapped.stdout}, {"stderr", bare.stderr, wrapped.stderr}} {
		if !bytes.Equal(s.bare, s.wrapped) {
			ts.Fatalf("%s differs: %d bytes, bare %d\nbelay: %.500q\nbare:  %.500q", s.name, len(s.wrapped), len(s.bare), s.wrapped, s.bare)
		}
	}
}

// mayMount reports whether a file system can be mounted here. In CI it must be.
var mayMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "belay-e2e-mount-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if err := unix.Mount("belay-e2e", dir, "tmpfs", 0, "size=64k"); err != nil {
		return os.Getenv("CI") != ""
	}
	unix.Unmount(dir, 0)
	return true
})

func cmdMount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || args[0] != "-o" {
		ts.Fatalf("usage: mount -o OPTIONS DIR")
	}
	dir := ts.MkAbs(args[2])
	var flags uintptr
	var data []string
	for option := range strings.SplitSeq(args[1], ",") {
		switch option {
		case "remount":
			flags |= unix.MS_REMOUNT
		case "ro":
			flags |= unix.MS_RDONLY
		default:
			data = append(data, option)
		}
	}
	ts.Check(unix.Mount("belay-e2e", dir, "tmpfs", flags, strings.Join(data, ",")))
	if flags&unix.MS_REMOUNT == 0 {
		ts.Defer(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	}
}
