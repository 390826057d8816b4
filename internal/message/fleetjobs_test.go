package message_test

import (
	"errors"

	"github.com/belay-run/belay/internal/message"
)

// fleetJobMessages are those of jobs that run on other machines.
func fleetJobMessages(say func(name, text string)) {
	away := errors.New("cannot reach PostgreSQL at db.example.com:5432/belay: connection refused")
	say("FleetNoPayload", message.FleetNoPayload())
	say("FleetOtherKey", message.FleetOtherKey())
	say("FleetResultUnreadable", message.FleetResultUnreadable(errors.New(message.FleetOtherKey())))
	say("FleetJobsAway", message.FleetJobsAway(away))
	say("FleetJobsBack", message.FleetJobsBack())
	say("FleetJobRefused", message.FleetJobRefused("chapter-1", errors.New(message.FleetEnvNotAllowed("HTTPS_PROXY"))))
	say("FleetCommandNotAllowed", message.FleetCommandNotAllowed("make"))
	say("FleetEnvNotAllowed", message.FleetEnvNotAllowed("HTTPS_PROXY"))
	say("FleetFlagNotAllowed", message.FleetFlagNotAllowed("log-dir"))
	say("FleetFlagSet", message.FleetFlagSet("fail-on"))
	say("FleetGateNotAllowed", message.FleetGateNotAllowed("claude"))
	say("FleetFallbackNotAllowed", message.FleetFallbackNotAllowed("codex"))
	say("FleetNoDir", message.FleetNoDir("/srv/work/a"))
	say("FleetDirNotAllowed", message.FleetDirNotAllowed("/srv/work/a"))
	say("FleetNoFolder", message.FleetNoFolder(errors.New("no space left on device")))
	say("FleetNoResult", message.FleetNoResult(125, "belay: cannot start"))
	say("FleetNoResult", message.FleetNoResult(137, ""))
	say("FleetSubmitterAway", message.FleetSubmitterAway(away))
	say("FleetResultTooLarge", message.FleetResultTooLarge(200, errors.New("no space left on device")))
	say("FleetSubmitterTakesLess", message.FleetResultTooLarge(300, errors.New(message.FleetSubmitterTakesLess())))
	say("FleetJobsLost", message.FleetJobsLost(1))
	say("FleetJobsLost", message.FleetJobsLost(30))
	say("FleetCourierEnded", message.FleetCourierEnded())
	say("FleetBadKey", message.FleetBadKey("/home/kim/.config/belay/fleet.key"))
	say("FleetKeyMade", message.FleetKeyMade("/home/kim/.config/belay/fleet.key"))
	say("FleetKeyMissing", message.FleetKeyMissing("/home/kim/.config/belay/fleet.key"))
	say("FleetWrongKey", message.FleetWrongKey())
	say("FleetNotEncrypted", message.FleetNotEncrypted())
	say("FleetBadWorkers", message.FleetBadWorkers("many"))
	say("FleetNothingAllowed", message.FleetNothingAllowed("/home/kim/.config/belay/config.toml"))
	say("FleetRefusedByAll", message.FleetRefusedByAll(message.FleetCommandNotAllowed("make")))
	say("FleetDoing", message.FleetDoing("ant", ""))
	say("FleetDoing", message.FleetDoing("ant", "Bash"))
	say("FleetTooLate", message.FleetTooLate("q17"))
	say("FleetResultNotKept", message.FleetResultNotKept("q17", errors.New("no space left on device")))
	say("FleetNoneHas", message.FleetNoneHas(nil))
	say("FleetNoneHas", message.FleetNoneHas([]string{"gpu", "linux"}))
	say("FleetKept", message.FleetDoing("ant", message.FleetKept()))
	say("FleetOn", message.FleetOn("ant", "the key was rejected"))
}
