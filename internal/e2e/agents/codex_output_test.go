//go:build linux

package agents_test

import (
	"slices"
	"testing"
)

// What is long, and a stream that breaks off, is printed as the bare codex prints it too.
func TestCodex_OutputAsBare(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		for form, flags := range codex.forms {
			for name, script := range map[string]string{
				"long":    "tool(bash: `head -c 900000 /dev/zero | tr '\\0' 'x'`), 200",
				"stream":  `drop-mid, 200(text="")`,
				"newline": `200(text="lines.\n")`,
			} {
				t.Run(form+"/"+name, func(t *testing.T) {
					t.Parallel()
					bare, r := codex.asBare(codex.New(t, version, "200"), script, codexWork(slices.Concat(flags, []string{"say hi"})...))
					bare.Exits(0)
					r.Exits(0)
				})
			}
		}
	})
}
