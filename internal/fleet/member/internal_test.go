package member

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
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

// Trouble is said once, until it is over, and pauses grow up to the longest: what PostgreSQL refuses is over when a session has worked for a while, and that it cannot be reached when it can be.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		m := &Member{Name: "ant", Address: &store.Address{Text: "db"}, Say: func(text string) { said = append(said, text) }}
		tr := &trouble{member: m}
		tr.joined(true)
		refused, away := errors.New("permission denied"), error(context.DeadlineExceeded)
		longest := time.Duration(0)
		for range 20 {
			tr.note(refused, true)
			longest = max(longest, tr.next(false))
			tr.joined(false)
		}
		if len(said) != 2 || tr.pause != maxPause || longest < maxPause/2 {
			t.Errorf("%d pauses up to %v: %q", len(said), longest, said)
		}
		time.Sleep(steadyTime)
		tr.over()
		for range 3 {
			tr.note(away, true)
			tr.next(true)
		}
		tr.note(refused, true)
		tr.note(refused, true)
		tr.note(away, true)
		tr.joined(false)
		if len(said) != 6 || tr.pause != 0 || !strings.HasPrefix(said[2], "the fleet is back after 15s") || !strings.Contains(said[5], "is back") {
			t.Errorf("%q", said)
		}
	})
}
