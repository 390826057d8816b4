//go:build linux

package agents_test

import (
	"strings"
	"testing"
)

// More bytes than the most characters can have are refused without a count.
func TestCodex_PromptTooManyBytes(t *testing.T) {
	t.Parallel()
	s := codex.New(t, "", "200")
	codex.refused(s.StartBelay(nil, codexAsk(), strings.NewReader(codexText(4*codexChars+1, true))).Wait())
	s.Asked(0)
}
