package rehearse_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/rehearse"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// ran is the outcome of a run of a real CLI.
type ran struct {
	code           int
	stdout, stderr string
	api            *rehearse.API
}

// runWith runs a real CLI against stand-ins, in an empty directory, and shows all of it if the test fails.
func runWith(t *testing.T, api *rehearse.API, cli string, args ...string) *ran {
	t.Helper()
	r := &ran{api: api}
	cmd := exec.Command(cli, args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), api.Environ()...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	late := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Run()
	r.code, r.stdout, r.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	t.Logf("exit %d\nstdout: %.3000s\nstderr: %.2000s", r.code, r.stdout, r.stderr)
	for _, q := range api.Requests() {
		t.Logf("%s %s %q: %d, %s, gap %v, took %v", q.Method, q.Path, q.Step, q.Status, q.End, q.Gap, q.Took)
	}
	return r
}
