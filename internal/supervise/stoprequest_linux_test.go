package supervise_test

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func init() {
	helpers["onrequest"] = func(args []string) {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		rec, err := (supervise.Records{Dir: args[0]}).Create(supervise.Record{ID: "a", Profile: args[1], Started: time.Now()})
		if err != nil {
			panic(err)
		}
		fmt.Println("ready")
		<-asked
		by, ok := rec.TakeRequest()
		_, again := rec.TakeRequest()
		fmt.Println(ok, again, by.By, by.Run, by.PID)
		rec.Remove()
	}
	helpers["requestor"] = func(args []string) {
		runs, err := (supervise.Records{Dir: args[0]}).List()
		if err != nil || len(runs) != 1 {
			panic(fmt.Sprint(runs, err))
		}
		if err := runs[0].RequestStop(supervise.StopRequest{By: "belay cancel"}); err != nil {
			panic(err)
		}
		fmt.Println(os.Getpid())
	}
}

// The owner of a run learns who has asked it to stop, and takes nothing else for a request.
func TestStopRequest(t *testing.T) {
	t.Parallel()
	self, term := os.Getpid(), func(rec *supervise.Record) { rec.Owner.Terminate() }
	for name, tt := range map[string]struct {
		profile string
		ask     func(rec *supervise.Record)
		before  func(path string)
		want    string
	}{
		"Cancelled": {ask: func(rec *supervise.Record) { rec.RequestStop(supervise.StopRequest{By: "belay cancel"}) }, want: fmt.Sprintf("true false belay cancel  %d", self)},
		"Replaced":  {ask: func(rec *supervise.Record) { rec.RequestStop(supervise.StopRequest{Run: "0b1c9a3e"}) }, want: fmt.Sprintf("true false  0b1c9a3e %d", self)},
		"Signalled": {ask: term, want: "false false   0"},
		"Hook":      {profile: "hook:x", ask: func(rec *supervise.Record) { rec.RequestStop(supervise.StopRequest{By: "belay cancel"}) }, want: "false false   0"},
		// A belay cancel was killed before it has sent its signal.
		"Stale": {ask: term, want: "false false   0", before: func(path string) {
			os.WriteFile(path+".asking", fmt.Appendf(nil, `{"by":"belay cancel","pid":%d,"boot":"x","start":1}`, self), 0o600)
		}},
		"Torn":    {ask: term, want: "false false   0", before: func(path string) { os.WriteFile(path+".asked", []byte(`{"by":"bel`), 0o600) }},
		"Empty":   {ask: term, want: "false false   0", before: func(path string) { os.WriteFile(path+".asked", []byte(`{}`), 0o600) }},
		"Link":    {ask: term, want: "false false   0", before: func(path string) { os.Symlink("/dev/zero", path+".asked") }},
		"Pipe":    {ask: term, want: "false false   0", before: func(path string) { syscall.Mkfifo(path+".asked", 0o600) }},
		"InOrder": {ask: func(rec *supervise.Record) { rec.RequestStop(supervise.StopRequest{By: "belay top"}) }, want: fmt.Sprintf("true false belay top  %d", self), before: func(path string) { os.WriteFile(path+".asking", []byte("{}"), 0o600) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := supervise.Records{Dir: t.TempDir()}
			cmd := helper("onrequest", r.Dir, tt.profile)
			out, err := cmd.StdoutPipe()
			must.OK(t, err)
			must.OK(t, cmd.Start())
			lines := bufio.NewScanner(out)
			lines.Scan()
			runs := list(t, r)
			if len(runs) != 1 {
				t.Fatalf("%+v", runs)
			}
			if tt.before != nil {
				tt.before(filepath.Join(r.Dir, names(t, r.Dir)[0]))
			}
			tt.ask(&runs[0])
			lines.Scan()
			if got := lines.Text(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			cmd.Wait()
			if left := names(t, r.Dir); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
			if err := runs[0].RequestStop(supervise.StopRequest{By: "belay cancel"}); err == nil {
				t.Error("a run that has ended was asked to stop")
			}
			if left := names(t, r.Dir); len(left) != 0 {
				t.Errorf("left after it ended: %q", left)
			}
		})
	}
}

// However many ask at the same time, and end at once, the owner learns of one of them, and nothing is left.
func TestStopRequest_ManyAtOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		r := supervise.Records{Dir: t.TempDir()}
		owner := helper("onrequest", r.Dir, "")
		out, err := owner.StdoutPipe()
		if err == nil {
			err = owner.Start()
		}
		must.OK(t, err)
		lines := bufio.NewScanner(out)
		lines.Scan()
		said := make(chan string)
		for range 4 {
			go func() {
				cmd := helper("requestor", r.Dir)
				cmd.Stderr = nil // one that comes too late panics
				pid, _ := cmd.Output()
				said <- strings.TrimSpace(string(pid))
			}()
		}
		lines.Scan()
		var got string
		var again bool // another request may come meanwhile
		fmt.Sscanf(lines.Text(), "true %t belay cancel %s", &again, &got)
		askers := map[string]bool{}
		for range 4 {
			askers[<-said] = true
		}
		if got == "" || !askers[got] {
			t.Errorf("%q, want one of %v", lines.Text(), askers)
		}
		owner.Wait()
		if left := names(t, r.Dir); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
	}
}
