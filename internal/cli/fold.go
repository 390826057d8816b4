package cli

import (
	"os"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// fold has the companion take the log into its database after a failed run: that is when users ask about it, and when an
// alert may have to be sent. With telemetry it does so after every run, and sends what there is. It is not waited for, and without a
// companion only this is missing. BELAY_FOLD=off is for machines that are thrown away.
func fold(r *belaytype.Result, telemetry bool) {
	if r.Log != "" && (!r.Success || telemetry) {
		foldAndSend(telemetry)
	}
}

func foldLog() { foldAndSend(false) }

func foldAndSend(telemetry bool) {
	if os.Getenv(state.FoldVar) == "off" {
		return
	}
	if path, argv, err := companion("", belayd.Fold); err == nil {
		if telemetry {
			argv = append(argv, "--"+belayd.Telemetry)
		}
		supervise.Detach(path, argv)
	}
}
