//go:build linux

package agents_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// The work is done but codex has not left yet, for which it takes five seconds: the answer is not lost.
func TestCodex_StopWhileItLeaves(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, "200(in=100, out=10)")
		run := s.StartBelay(nil, codexAsk("say hi"), nil)
		s.Eventually("it has its answer", func() bool {
			paths, _ := filepath.Glob(filepath.Join(s.Dir, "api", "home", ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
			return slices.ContainsFunc(paths, func(path string) bool {
				record, _ := os.ReadFile(path)
				return bytes.Contains(record, []byte(`"task_complete"`))
			})
		})
		time.Sleep(time.Second)
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Prints(answer)
		r.Used(100, 10)
	})
}
