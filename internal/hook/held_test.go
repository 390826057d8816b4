package hook

import (
	"bytes"
	"strings"
	"testing"
)

// A long decision is passed on whole: cut off, a block would become a pass. What is longer than any decision is none.
func TestHeld_Long(t *testing.T) {
	decision := `{"decision":"block","reason":"` + strings.Repeat("x", 3<<20) + `"}`
	var out bytes.Buffer
	h := &held{live: &out}
	for i := 0; i < len(decision); i += 100_000 {
		h.Write([]byte(decision[i:min(i+100_000, len(decision))]))
	}
	if err := h.check(); err != nil {
		t.Error(err)
	}
	if err := h.deliver(); err != nil || out.String() != decision {
		t.Errorf("%d of %d bytes, %v", out.Len(), len(decision), err)
	}

	h = &held{live: &out, memory: *bytes.NewBuffer(make([]byte, maxHeld-1, maxHeld))}
	h.Write([]byte("x"))
	if h.err != nil || h.memory.Len() != maxHeld {
		t.Errorf("%v, %d bytes are held", h.err, h.memory.Len())
	}
	h.Write([]byte("x"))
	if h.err != errTooMuch || h.memory.Len() > 0 {
		t.Errorf("%v, %d bytes are held", h.err, h.memory.Len())
	}
}
