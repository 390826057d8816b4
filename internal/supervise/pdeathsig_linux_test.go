package supervise_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func init() {
	// parent runs a child that makes a file when it gets SIGTERM, and waits to be killed.
	helpers["parent"] = func(args []string) {
		s := &supervise.Supervisor{}
		if args[0] == "owner" {
			s = supervise.Own()
		}
		s.Run(supervise.Spec{Path: "/bin/sh", RunID: args[2], Args: []string{"sh", "-c",
			`trap ': > "$0.term"; exit' TERM; : > "$0"; while :; do sleep 0.01; done`, args[1]}}, nil)
	}
	// threads runs children while threads come and go, among them those that the children could have been started on.
	helpers["threads"] = func(args []string) {
		n, _ := strconv.Atoi(args[0])
		for range n {
			var wg sync.WaitGroup
			codes := make(chan int, 2)
			for range 2 {
				wg.Go(func() {
					exit, err := (&supervise.Supervisor{}).Run(supervise.Spec{Path: "/bin/sh",
						Args: []string{"sh", "-c", "sleep 0.05; exit 7"}}, func(*supervise.Process) { endThreads() })
					if err != nil {
						panic(err)
					}
					codes <- exit.ShellCode()
				})
			}
			wg.Wait()
			if a, b := <-codes, <-codes; a != 7 || b != 7 {
				os.Exit(max(a, b))
			}
		}
	}
}

// endThreads ends some threads: a goroutine that returns while it is locked to one takes it with it.
func endThreads() {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
		})
	}
	wg.Wait()
}

// A belay that is killed takes its command with it, politely.
func TestParentDeath_ReachesTheChild(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"owner", "library"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			file, id := filepath.Join(t.TempDir(), "file"), newID()
			cmd := helper("parent", who, file, id)
			must.OK(t, cmd.Start())
			eventually(t, "the child runs", func() bool { return exists(file) })
			cmd.Process.Kill()
			cmd.Wait()
			eventually(t, "the child has got SIGTERM", func() bool { return exists(file + ".term") })
			eventually(t, "the child is gone", func() bool { return len(carriers(id)) == 0 })
		})
	}
}

// The kernel means the thread, not the process, when it says parent: a thread that ends is no reason for a child to end.
func TestParentDeath_IsNotThatOfAThread(t *testing.T) {
	t.Parallel()
	if err := helper("threads", "20").Run(); err != nil {
		t.Errorf("a child has ended with a thread: %v", err)
	}
}
