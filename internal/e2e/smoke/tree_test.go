package smoke_test

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"
)

// generations is how many processes a tree has.
const generations = 3

// branch starts a tree by belay run and waits until all of it runs.
func (e *exchange) branch(flags ...string) (*call, []member) {
	e.Helper()
	c := e.start(nil, runLine(flags, "tree", e.address(), "2")...)
	return c, e.members(generations)
}

func TestTree_Timeout(t *testing.T) {
	e := newScene(t).exchange()
	c, tree := e.branch("--timeout", "3s")
	e.want(c.wait(), 124, "")
	e.gone(tree)
}

func TestTree_Stall(t *testing.T) {
	e := newScene(t).exchange()
	c, tree := e.branch("--stall-timeout", "3s")
	e.want(c.wait(), 124, "")
	e.gone(tree)
}

// runID waits until belay ps shows one run, and returns its id.
func (s *scene) runID() string {
	s.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(20 * time.Millisecond) {
		runs := lines[struct {
			ID    string `json:"id"`
			State string `json:"state"`
		}](s, "ps", "--json")
		if len(runs) == 1 && runs[0].State == "running" {
			return runs[0].ID
		}
	}
	s.Fatal("belay ps does not show the run")
	return ""
}

// classes are the classes of the runs in the log, the last one first.
func (s *scene) classes() (list []string) {
	s.Helper()
	for _, l := range lines[struct {
		Class string `json:"class"`
	}](s, "log", "--json") {
		list = append(list, l.Class)
	}
	return list
}

func TestTree_Cancel(t *testing.T) {
	e := newScene(t).exchange()
	c, tree := e.branch("--max-retries", "3")
	e.want(e.belay("cancel", e.runID()), 0, "*")
	e.want(c.wait(), 143, "")
	e.gone(tree)
	if got := e.classes(); len(got) != 1 || got[0] != "interrupted" {
		t.Errorf("the log has %q", got)
	}
	e.want(e.belay("ps"), 0, "nothing is running\n")
}

// What a killed belay leaves ends with it, or by belay ps --reap, and the run is on record.
func TestTree_Killed(t *testing.T) {
	e := newScene(t).exchange()
	e.unread = true
	c, tree := e.branch()
	c.cmd.Process.Kill()
	<-c.ended
	e.unread = false
	e.want(e.belay("ps", "--reap"), 0, "*")
	e.gone(tree)
	if got := e.classes(); len(got) != 1 {
		t.Errorf("the log has %q", got)
	}
}

// A command that succeeds keeps what it has started, and belay says what that is.
func TestTree_LeftBySuccess(t *testing.T) {
	e := newScene(t).exchange()
	file := filepath.Join(e.dir, "result")
	c, tree := e.branch("--max-retries", "1", "--result-file", file)
	tree[0].exit(0)
	e.want(c.wait(), 0, "")
	var result struct {
		Left []int `json:"left_running"`
	}
	if err := json.Unmarshal(read(t, file), &result); err != nil || len(result.Left) != generations-1 {
		t.Errorf("%v: %+v", err, result)
	}
	tree[1].exit(0)
	e.gone(tree[1:2]) // by its own will: it was there to be told
	tree[2].exit(0)
	e.gone(tree[2:])
}

func TestTree_LeftByFailure(t *testing.T) {
	e := newScene(t).exchange()
	c, tree := e.branch("--max-retries", "1", "--retry-on-exit", "3")
	tree[0].exit(5)
	e.want(c.wait(), 5, "")
	e.gone(tree)
}

func TestTree_Reap(t *testing.T) {
	e := newScene(t).exchange()
	c, tree := e.branch("--reap")
	tree[0].exit(0)
	e.want(c.wait(), 0, "")
	e.gone(tree)
}

// One retry after another ends what the attempt before has left.
func TestTree_Retry(t *testing.T) {
	e := newScene(t).exchange()
	c, first := e.branch("--max-retries", "1", "--base-delay", "0")
	first[0].exit(5)
	second := e.members(generations)
	e.gone(first)
	second[0].exit(0)
	e.want(c.wait(), 0, "")
	second[1].exit(0)
	second[2].exit(0)
	e.gone(second)
}
