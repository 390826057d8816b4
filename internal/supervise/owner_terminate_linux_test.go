package supervise_test

import (
	"bufio"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func init() {
	helpers["onrecord"] = func(args []string) {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		if _, err := (supervise.Records{Dir: args[0]}).Create(supervise.Record{ID: "a", Started: time.Now()}); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("ready\n")
		<-asked
		os.Exit(9)
	}
}

func TestOwner_Terminate(t *testing.T) {
	t.Parallel()
	r := supervise.Records{Dir: t.TempDir()}
	cmd := helper("onrecord", r.Dir)
	out, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, cmd.Start())
	bufio.NewReader(out).ReadString('\n')
	runs := list(t, r)
	if len(runs) != 1 || runs[0].Owner.PID != cmd.Process.Pid {
		t.Fatalf("%+v", runs)
	}
	if err := runs[0].Owner.Terminate(); err != nil {
		t.Error(err)
	}
	// A zombie is not alive.
	eventually(t, "it has ended", func() bool { return !runs[0].Owner.Alive() })
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("it exited %d", code)
	}
	if runs[0].Owner.Terminate() == nil || len(list(t, r)) != 0 {
		t.Error("it lives")
	}
}
