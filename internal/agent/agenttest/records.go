package agenttest

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/test/must"
)

// Damage is something that can become of a record, and the flaws that it is taken for.
type Damage struct {
	Name   string
	Change func(lines []string) []string
	Flaws  []history.Flaw
	// Keeps is what a mended record still has; Lacks what it has not.
	Keeps, Lacks string
}

// LargeImage is an image that is wider than services take, as base64.
func LargeImage() string {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 9000, 10)))
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// write writes a record of a session into a home, as name is called.
func write(t *testing.T, home, name string, lines []string) string {
	path := filepath.Join(home, name)
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// Records holds that a format finds the flaws of a record that was whole, and that a copy has none of them. The record stays as it is.
func Records(t *testing.T, format *history.Format, name, session string, whole []string, damages []Damage) {
	for _, d := range append(damages, Damage{Name: "none", Change: func(l []string) []string { return l }}) {
		t.Run(d.Name, func(t *testing.T) {
			home := t.TempDir()
			path := write(t, home, name, d.Change(slices.Clone(whole)))
			if found := format.Find(home, session); found != path {
				t.Fatalf("found %q", found)
			}
			before, err := os.ReadFile(path)
			must.OK(t, err)
			r, err := history.Examine(format, path, session, "")
			must.OK(t, err)
			var flaws []history.Flaw
			for _, f := range r.Found {
				if !slices.Contains(flaws, f.Flaw) {
					flaws = append(flaws, f.Flaw)
				}
			}
			if !slices.Equal(flaws, d.Flaws) {
				t.Fatalf("found %q, want %q", flaws, d.Flaws)
			}
			mended, err := r.Mend()
			if r.Hopeless() != "" {
				if entries, _ := os.ReadDir(filepath.Dir(path)); err == nil || len(entries) != 1 {
					t.Fatalf("mended what is hopeless: %v, %v", err, entries)
				}
				return
			}
			must.OK(t, err)
			copied := format.Find(home, mended)
			text, err := os.ReadFile(copied)
			must.OK(t, err)
			if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
			if d.Keeps != "" && !bytes.Contains(text, []byte(d.Keeps)) || d.Lacks != "" && bytes.Contains(text, []byte(d.Lacks)) || bytes.Contains(text, []byte(session)) {
				t.Errorf("the copy is\n%s", text)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
				t.Errorf("the record has changed: %v", err)
			}
			if again, err := history.Examine(format, copied, mended, ""); err != nil || len(again.Found) > 0 {
				t.Errorf("the copy has %v, %v", again.Found, err)
			}
		})
	}
}
