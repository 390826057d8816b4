//go:build unix

package clitest_test

import (
	"os"
	"os/exec"
	"testing"
)

// The whole program is started as nohup, and as a script in the background, would start it.
func TestHearSignals(t *testing.T) {
	const innerVar = "CLITEST_SIGNAL"
	if sig := os.Getenv(innerVar); sig != "" {
		if err := exec.Command("sh", "-c", "kill -"+sig+" $$").Run(); err == nil {
			t.Errorf("a command that the tests start ignores SIG%s", sig)
		}
		return
	}
	for _, sig := range []string{"INT", "HUP"} {
		cmd := exec.Command("sh", "-c", `trap '' `+sig+`; exec "$0" -test.run '^TestHearSignals$'`, os.Args[0])
		cmd.Env = append(os.Environ(), innerVar+"="+sig)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}
