package clitest

import (
	"os"
	"os/signal"
	"syscall"
)

// HearSignals makes commands that the tests start die by SIGINT and SIGHUP, as they do by default. Under nohup, and in the
// background of a script, the tests are started with one of them ignored, and what they start would ignore it too.
//
// [Main] calls it; other TestMains of packages whose tests send these signals have to.
func HearSignals() {
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			// A signal that is caught has its default action again in the programs that are executed.
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
