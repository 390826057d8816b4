package member

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/companion/fleet/store"
)

// The first note is acted on at once. Those that come while the member looks, or soon after, are one more look, however many they are.
func TestNotes_Fold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNotes()
		begun := time.Now()
		n.add(store.Note{Kind: store.NoteGate, Key: "api"})
		<-n.waiting
		if got := n.take(); len(got) != 1 || len(got[store.NoteGate]) != 1 || time.Since(begun) != 0 {
			t.Errorf("%v after %v", got, time.Since(begun))
		}
		for i := range 5000 {
			n.add(store.Note{Kind: store.NoteGate, Key: fmt.Sprint("forged", i)})
			n.add(store.Note{Kind: store.NoteBudget, Key: "team"})
			n.add(store.Note{Kind: fmt.Sprint("unknown", i)})
		}
		<-n.waiting
		got := n.take()
		if keys, is := got[store.NoteGate]; !is || keys != nil || len(got) != 2 || len(got[store.NoteBudget]) != 1 {
			t.Errorf("%v", got)
		}
		if took := time.Since(begun); took != lookPause {
			t.Errorf("it looks again after %v", took)
		}
		synctest.Wait()
		if len(n.waiting) != 0 {
			t.Error("there is one look more")
		}
	})
}
