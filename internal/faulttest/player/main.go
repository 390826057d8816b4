//go:build unix

// The player stands for a command that fails: at its nth start it does what the nth of the attempts says that are in the file
// attempts.json of the directory that FAULT_DIR names. It is called by the name of the command that it stands for; as "tool"
// it is a process that such a command leaves in the background.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
)

// longest is how long a process lasts that nothing ends.
const longest = 2 * time.Minute

func main() {
	time.AfterFunc(longest, func() { os.Exit(99) })
	if filepath.Base(os.Args[0]) == "tool" {
		select {}
	}
	dir := os.Getenv("FAULT_DIR")
	var attempts []faulttest.Played
	data, err := os.ReadFile(filepath.Join(dir, "attempts.json"))
	if err == nil {
		err = json.Unmarshal(data, &attempts)
	}
	if err != nil || len(attempts) == 0 {
		fmt.Fprintln(os.Stderr, "player:", err)
		os.Exit(98)
	}
	a := attempts[min(started(dir), len(attempts)-1)]
	if a.Leaves != "" {
		leave(a.Leaves == "session")
	}
	for _, op := range a.Ops {
		do(op, a.Session)
	}
	if a.Signal != 0 {
		// As a shell: Go has handlers of its own for some signals.
		syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", a.Signal)}, os.Environ())
		os.Exit(97)
	}
	os.Exit(a.Code)
}

// started counts this start, and returns how many there were before it. The file has its arguments.
func started(dir string) int {
	args, _ := json.Marshal(os.Args)
	for n := 0; ; n++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint("start.", n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			os.Exit(96)
		}
		f.Write(args)
		f.Close()
		return n
	}
}

func do(op faulttest.Op, session string) {
	out := faulttest.Fill(op.Out, session, time.Now())
	os.Stdout.WriteString(out)
	os.Stderr.WriteString(faulttest.Fill(op.Err, session, time.Now()))
	for op.Alive {
		time.Sleep(100 * time.Millisecond)
		if _, err := os.Stdout.WriteString(out); err != nil {
			os.Exit(141)
		}
	}
	time.Sleep(op.Sleep)
	if op.Hang {
		select {}
	}
}

// leave starts a process in the background that does not end by itself.
func leave(session bool) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	self, err2 := os.Executable()
	if err != nil || err2 != nil {
		os.Exit(95)
	}
	_, err = os.StartProcess(self, []string{"tool"}, &os.ProcAttr{Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: session}})
	if err != nil {
		os.Exit(94)
	}
}
