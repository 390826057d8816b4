package run

import (
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/config"
)

// watchOwnLog returns a function that reports, after a run, the log that the run was the first to keep in the working directory: a
// directory .logs that was not asked for should not come as a surprise. Empty if it was there before, or is not kept, or if no one
// is watching: what scripts get on stderr is what the command prints.
func watchOwnLog(s *config.Settings, known *agent.Descriptor, watched bool) (made func() string) {
	none := func() string { return "" }
	if !watched || known.OwnLog == "" || s.LogDir != "" {
		return none
	}
	dir := filepath.Join(s.Cwd, ".logs")
	if _, err := os.Lstat(dir); err == nil {
		return none
	}
	return func() string {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return ""
		}
		return filepath.Join(dir, known.OwnLog)
	}
}
