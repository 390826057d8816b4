//go:build linux

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// dirVar names the directory of the script to the programs in it. It also marks all that they start. Belay keeps variables
// of its own name from its commands, so this has another.
const dirVar = "COMPARE_DIR"

// stepVar says which step of the script it is.
const stepVar = "COMPARE_STEP"

// actors are the programs that are played: links to this executable.
var actors = []string{"claude", "codex", "gh", "job", "tool"}

// longest is how long an actor lasts that nothing ends.
const longest = 20 * time.Second

// call is what an actor has seen of its start.
type call struct {
	Name string
	Args []string
	Dir  string
	Env  []string `json:",omitempty"`
}

// input is what it has read.
type input struct {
	Name, Read, Stdin string
}

// actor is one start of a scripted program.
type actor struct {
	dir     string
	call    call
	stdin   *bufio.Reader
	session string
}

// actMain plays a program and returns its exit code.
func actMain(name string) int {
	time.AfterFunc(longest, func() { os.Exit(99) })
	a := &actor{dir: os.Getenv(dirVar), stdin: bufio.NewReader(os.Stdin)}
	a.noteProcess(name, os.Getpid())
	if name == "tool" {
		select {}
	}
	data, err := os.ReadFile(filepath.Join(a.dir, "script.json"))
	var s script
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		return 98
	}
	dir, _ := os.Getwd()
	a.call = call{Name: name, Args: os.Args[1:], Dir: dir, Env: seen(os.Environ())}
	a.session = sessionOf(os.Args[1:], sessionID(s.Seed, 0))
	a.note("calls", a.call)
	return a.play(a.choose(&s))
}

// seen are the variables that belay may have set.
func seen(env []string) (list []string) {
	for _, kv := range env {
		for _, prefix := range []string{"BELAY_", "CLAUDE_", "CODEX_", "GH_", "TRACEPARENT="} {
			if strings.HasPrefix(kv, prefix) {
				list = append(list, kv)
			}
		}
	}
	slices.Sort(list)
	return list
}

// sessionOf is the session that a command line names; otherwise a new one.
func sessionOf(args []string, otherwise string) string {
	for i, arg := range args {
		for _, name := range []string{"--resume", "-r", "--session-id", "resume"} {
			if value, ok := strings.CutPrefix(arg, name+"="); ok {
				return value
			}
			if arg == name && i+1 < len(args) && len(args[i+1]) == len(otherwise) {
				return args[i+1]
			}
		}
	}
	return otherwise
}

// choose finds out what is to be done this time.
func (a *actor) choose(s *script) act {
	for _, answer := range s.Answers {
		if a.call.Name == "gh" && len(a.call.Args) >= len(answer.Args) && slices.Equal(a.call.Args[:len(answer.Args)], answer.Args) {
			return answer.Act
		}
	}
	step, _ := strconv.Atoi(os.Getenv(stepVar))
	for _, name := range []string{atStep(a.call.Name, step), a.call.Name} {
		if acts := s.Acts[name]; len(acts) > 0 {
			return acts[min(a.count(name), len(acts)-1)]
		}
	}
	return nil
}

// count is how many starts there were before this one.
func (a *actor) count(name string) int {
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(a.dir, fmt.Sprintf("start-%s-%d", name, n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			f.Close()
			return n
		}
		if !os.IsExist(err) {
			return 0
		}
	}
}

// note adds a line to a file of the script. A single write of it does not mix with those of others.
func (a *actor) note(file string, v any) {
	line, _ := json.Marshal(v)
	f, err := os.OpenFile(filepath.Join(a.dir, file), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	f.Write(append(line, '\n'))
	f.Close()
}

// process is one that the script has started.
type process struct {
	Name string
	PID  int
}

func (a *actor) noteProcess(name string, pid int) { a.note("processes", process{name, pid}) }

func (a *actor) play(ops act) int {
	for _, o := range ops {
		a.read(o.Read)
		if o.Append != "" {
			a.append(o.Append, o.Text)
		}
		if o.Mark != "" {
			os.WriteFile(filepath.Join(a.dir, o.Mark), nil, 0o600)
		}
		for range max(o.Times, 1) {
			if o.Out != "" && a.write(os.Stdout, o.Out) != nil {
				return 141 // as a shell shows SIGPIPE
			}
		}
		if o.Trace != nil && os.Getenv("GH_DEBUG") == "api" {
			a.write(os.Stderr, o.Trace.String())
		}
		a.write(os.Stderr, o.Err)
		switch {
		case o.Ignore:
			signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
		case o.Trap != nil:
			a.trap(*o.Trap)
		}
		if o.Spawn != "" {
			a.spawn(o.Spawn)
		}
		if o.Await != "" {
			for _, err := os.Stat(filepath.Join(a.dir, o.Await)); err != nil; _, err = os.Stat(filepath.Join(a.dir, o.Await)) {
				time.Sleep(2 * time.Millisecond)
			}
		}
		time.Sleep(time.Duration(o.Sleep) * time.Millisecond)
		switch {
		case o.Signal != "":
			// As a shell: Go's own handlers would tell of some signals at length.
			syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + o.Signal + " $$"}, os.Environ())
			return 96
		case o.Hang:
			select {}
		case o.Exit != nil:
			return *o.Exit
		}
	}
	return 0
}

// trap ends the actor with an exit code of its own when a signal comes.
func (a *actor) trap(code int) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-c
		os.Exit(code)
	}()
}

// read takes stdin and notes what came.
func (a *actor) read(what string) {
	var data []byte
	switch what {
	case "all":
		data, _ = io.ReadAll(a.stdin)
	case "line":
		data, _ = a.stdin.ReadBytes('\n')
	default:
		return
	}
	if len(data) > 200 {
		data = fmt.Appendf(nil, "%d bytes %x", len(data), sha256.Sum256(data))
	}
	a.note("inputs", input{a.call.Name, what, string(data)})
}

func (a *actor) write(to *os.File, text string) error {
	if text == "" {
		return nil
	}
	_, err := to.WriteString(a.fill(text))
	return err
}

// fill puts in what a text leaves open.
func (a *actor) fill(text string) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	now := time.Now()
	return strings.NewReplacer(
		"{{session}}", a.session,
		"{{long}}", strings.Repeat("long ", 300_000),
		"{{now}}", now.UTC().Format("2006-01-02T15:04:05.000Z"),
		"{{day}}", now.Format("2006/01/02"),
		"{{past}}", strconv.FormatInt(now.Add(-time.Hour).Unix(), 10),
		"{{soon}}", strconv.FormatInt(now.Add(90*time.Minute).Unix(), 10),
	).Replace(text)
}

func (a *actor) append(path, text string) {
	path = filepath.Join(os.Getenv("HOME"), a.fill(path))
	os.MkdirAll(filepath.Dir(path), 0o700)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	f.WriteString(a.fill(text))
	f.Close()
}

// spawn starts a background process that outlasts this one.
func (a *actor) spawn(how string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	files := []*os.File{null, null, null}
	if how == "output" {
		files[1] = os.Stdout
	}
	self, _ := os.Executable()
	p, err := os.StartProcess(self, []string{"tool"},
		&os.ProcAttr{Files: files, Sys: &syscall.SysProcAttr{Setsid: how == "session"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(97)
	}
	a.noteProcess("tool", p.Pid)
}

// String is the request as gh's trace shows it.
func (r *request) String() string {
	var b strings.Builder
	host := strings.TrimPrefix(r.URL, "https://")
	host, path, _ := strings.Cut(host, "/")
	fmt.Fprintf(&b, "* Request at %s m=+0.01\n* Request to %s\n> %s /%s HTTP/1.1\n> Host: %s\n\n", time.Now().UTC().Format("2006-01-02 15:04:05.999999999 -0700 MST"), r.URL, r.Method, path, host)
	if r.Broke != "" {
		fmt.Fprintf(&b, "* %s\n* Request took 3.1ms\n", r.Broke)
		return b.String()
	}
	fmt.Fprintf(&b, "< HTTP/1.1 %s\n< Content-Type: application/json; charset=utf-8\n", r.Status)
	for _, h := range r.Header {
		fmt.Fprintf(&b, "< %s\n", h)
	}
	fmt.Fprintf(&b, "\n%s\n\n* Request took 3.1ms\n", r.Body)
	return b.String()
}
