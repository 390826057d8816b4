package certificate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/certificate"
	"github.com/belay-run/belay/internal/test/must"
)

// A certificate is a file of the user's alone, and is not written through a link.
func TestCertificate_Kept(t *testing.T) {
	state, elsewhere := t.TempDir(), t.TempDir()
	c := &certificate.Certificate{Agent: "claude", Version: "1.2.3", Promises: []certificate.Promise{{Name: "a", Kept: true}, {Name: "b"}}}
	must.OK(t, c.Keep(state))
	read, err := certificate.Read(filepath.Join(state, "certified", "claude.json"))
	if err != nil || len(read) != 1 || !slices.Equal(read["claude"], c.Promises) || len(c.Lost()) != 1 {
		t.Errorf("%v %v", read, err)
	}
	if certificate.Find(state, "claude", "1.2.3") == nil || certificate.Find(state, "claude", "1.2.4") != nil || certificate.Find(state, "codex", "1.2.3") != nil {
		t.Error("it is not found, or found for another version")
	}
	must.OK(t, os.RemoveAll(filepath.Join(state, "certified")))
	must.OK(t, os.Symlink(elsewhere, filepath.Join(state, "certified")))
	if err := c.Keep(state); err == nil {
		t.Error("it was written through a link")
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

// Only what was kept before can be lost.
func TestCertificate_LostSince(t *testing.T) {
	before := []certificate.Promise{{Name: "a", Kept: true}, {Name: "b"}, {Name: "c", Kept: true}}
	now := &certificate.Certificate{Promises: []certificate.Promise{{Name: "a"}, {Name: "b"}, {Name: "c", Kept: true}, {Name: "d"}}}
	if got := now.LostSince(before); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v", got)
	}
}
