package hook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A decision is whole also where there is no room for a file: lost, a block would become a pass.
func TestHeld_NoRoom(t *testing.T) {
	decision := `{"decision":"block","reason":"` + strings.Repeat("x", 3*maxMemory) + `"}`
	for name, test := range map[string]struct {
		tmp  string
		half func(h *held)
	}{
		"NoDirectory":       {tmp: filepath.Join(t.TempDir(), "missing")},
		"FileForADirectory": {tmp: os.Args[0]},
		"FullMeanwhile": {tmp: t.TempDir(), half: func(h *held) { // what is written fails, what is read does not
			readOnly, err := os.Open(fmt.Sprint("/proc/self/fd/", h.file.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			h.file.Close()
			h.file = readOnly
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.half != nil && runtime.GOOS != "linux" {
				t.Skip("no /proc")
			}
			t.Setenv("TMPDIR", test.tmp)
			var out bytes.Buffer
			h := &held{live: &out}
			defer h.close()
			for i := 0; i < len(decision); i += 100_000 {
				h.Write([]byte(decision[i:min(i+100_000, len(decision))]))
				if test.half != nil && h.file != nil && i > 2*maxMemory {
					test.half(h)
					test.half = nil
				}
			}
			if err := h.check(); err != nil {
				t.Error(err)
			}
			if err := h.deliver(); err != nil || out.String() != decision {
				t.Errorf("%d of %d bytes, %v", out.Len(), len(decision), err)
			}
		})
	}
}
