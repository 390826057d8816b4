package batch

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleetpipe"
)

// The result of a task that is run again counts if it came after the task was submitted, also before the task is waited for: it was dropped, and the batch waited
// for ever. One that came before is that of the earlier run, in whole or in part.
func TestFleetLine_RunAgain(t *testing.T) {
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
			f := &fleetLine{heard: make(chan struct{}), submitted: make(chan struct{}), early: map[fleetKey]*fleetpipe.Result{}, waiting: map[fleetKey]chan *fleetpipe.Result{},
				sent: map[string]bool{"a": true}, again: map[string]bool{"a": true}, texts: fleetpipe.Texts{}}
			f.read(strings.NewReader(tt.reports))
			result, sent, again := f.await(fleetKey{"a", "h"})
			got := ""
			select {
			case r := <-result:
				got = r.Machine
			default:
			}
			if got != tt.machine || !sent || !again || len(f.texts) != tt.texts {
				t.Errorf("the result is of %q, not of %q; %d texts", got, tt.machine, len(f.texts))
			}
			for id := range f.texts {
				f.texts.Take(id).Close()
			}
		})
	}
}

// A task that is run again and was not submitted yet has no use for an earlier result.
func TestFleetLine_SubmittedLater(t *testing.T) {
	key := fleetKey{"a", "h"}
	f := &fleetLine{early: map[fleetKey]*fleetpipe.Result{key: {}}, waiting: map[fleetKey]chan *fleetpipe.Result{}, again: map[string]bool{"a": true}}
	if result, sent, _ := f.await(key); len(result) != 0 || sent || f.waiting[key] == nil {
		t.Error("the earlier result is taken")
	}
}
