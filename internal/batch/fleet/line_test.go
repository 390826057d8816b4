package fleet

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleetpipe"
)

// The result of a task that is run again counts if it came after the task was submitted, also before the task is waited for: it was dropped, and the batch waited
// for ever. One that came before is that of the earlier run, in whole or in part.
func TestLine_RunAgain(t *testing.T) {
	const early = `{"result":{"id":1,"task":"a","hash":"h","machine":"earlier"}}` + "\n"
	for name, tt := range map[string]struct {
		reports string
		machine string // of which there is a result; empty if it is waited for
		texts   int
	}{
		"Before":      {early + `{"submitted":true}`, "", 0},
		"After":       {`{"submitted":true}` + "\n" + `{"result":{"id":1,"task":"a","hash":"h","machine":"new"}}`, "new", 0},
		"Both":        {early + `{"submitted":true}` + "\n" + `{"result":{"id":1,"task":"a","hash":"h","machine":"new"}}`, "new", 0},
		"OthersBegin": {`{"submitted":true}` + "\n" + `{"result":{"id":1,"task":"a","hash":"h","machine":"new"}}` + "\n" + `{"submitted":true}`, "new", 0},
		"PartBefore":  {`{"part":{"id":1,"data":"eA=="}}` + "\n" + `{"submitted":true}`, "", 0},
		"PartAfter":   {`{"submitted":true}` + "\n" + `{"part":{"id":1,"data":"eA=="}}` + "\n" + `{"result":{"id":1,"task":"a","hash":"h","machine":"new"}}` + "\n" + `{"submitted":true}`, "new", 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Line{heard: make(chan struct{}), submitted: make(chan struct{}), early: map[taskKey]*fleetpipe.Result{}, waiting: map[taskKey]chan *fleetpipe.Result{},
				sent: map[string]bool{"a": true}, again: map[string]bool{"a": true}, texts: fleetpipe.Texts{}}
			l.read(strings.NewReader(tt.reports))
			result, sent, again := l.await(taskKey{"a", "h"})
			got := ""
			select {
			case r := <-result:
				got = r.Machine
			default:
			}
			if got != tt.machine || !sent || !again || len(l.texts) != tt.texts {
				t.Errorf("the result is of %q, not of %q; %d texts", got, tt.machine, len(l.texts))
			}
			for id := range l.texts {
				l.texts.Take(id).Close()
			}
		})
	}
}

// A task that is run again and was not submitted yet has no use for an earlier result.
func TestLine_SubmittedLater(t *testing.T) {
	key := taskKey{"a", "h"}
	l := &Line{early: map[taskKey]*fleetpipe.Result{key: {}}, waiting: map[taskKey]chan *fleetpipe.Result{}, again: map[string]bool{"a": true}}
	if result, sent, _ := l.await(key); len(result) != 0 || sent || l.waiting[key] == nil {
		t.Error("the earlier result is taken")
	}
}
