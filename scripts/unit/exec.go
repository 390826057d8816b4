package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

const (
	// execArgument makes this program what go test starts in place of each executable with tests (-exec).
	execArgument = "exec"
	// costsVar names the file to which each package adds a line.
	costsVar = "BELAY_TEST_COSTS"
	// graceVar says how long processes may take to end after the tests.
	graceVar = "BELAY_TEST_GRACE"
	// leftBehind begins the line about a process that the tests of a package have not ended.
	leftBehind = "unit: left behind: "
)

// execTests runs the tests of a package, and fails if they leave a process behind. It returns the exit code.
func execTests(args []string) int {
	// nohup, and a shell that starts make in the background, have signals ignored, and tests that send them would hang. A signal that is caught here has its
	// usual effect there.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=") // what tests build is built as in the Makefile, and what they run collects its garbage as always
	own(cmd)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		for s := range signals {
			cmd.Process.Signal(s)
		}
	}()
	cmd.Wait()
	left := reap()
	for _, process := range left {
		fmt.Printf("%s%s\n", leftBehind, process)
	}
	addCost()
	switch code := cmd.ProcessState.ExitCode(); {
	case code < 0:
		fmt.Printf("unit: the tests ended by %v\n", cmd.ProcessState)
		return 1
	case code == 0 && len(left) > 0:
		return 1
	default:
		return code
	}
}
