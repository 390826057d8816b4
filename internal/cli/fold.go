package cli

import (
	"os"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// fold has the companion take the log into its database after a failed run: that is when users ask about it, and when an
// alert may have to be sent. It is not waited for, and without a companion only this is missing. BELAY_FOLD=off is for
// machines that are thrown away.
func fold(r *engine.Result) {
	if !r.Success && r.Log != "" {
		foldLog()
	}
}

func foldLog() {
	if os.Getenv(state.FoldVar) == "off" {
		return
	}
	self, err := executable()
	if err != nil {
		return
	}
	if path, err := findCompanion(self); err == nil {
		supervise.Detach(path, []string{path, "--for", version.Pair(), "--belay", self, belayd.Fold})
	}
}
