package message_test

import (
	"errors"

	"github.com/belay-run/belay/internal/message"
)

// fleetMessages are those of machines that share one account.
func fleetMessages(say func(name, text string)) {
	const db = "db.example.com:5432/belay"
	say("FleetNoAddress", message.FleetNoAddress())
	say("FleetPassFile", message.FleetPassFile(errors.New("/home/kim/.pgpass can be read or changed by other users (mode 0644); make it yours alone with: chmod 600 /home/kim/.pgpass")))
	say("FleetPassword", message.FleetPassword())
	say("FleetBadAddress", message.FleetBadAddress("invalid port"))
	say("FleetPooler", message.FleetPooler(db))
	say("FleetUnreachable", message.FleetUnreachable(db, "connect: connection refused"))
	say("FleetRefused", message.FleetRefused(db, `role "belay" does not exist`))
	say("FleetNoRights", message.FleetNoRights(db, "permission denied for schema belay"))
	say("FleetNotInitialised", message.FleetNotInitialised(db))
	say("FleetNewer", message.FleetNewer(4, 3))
	say("FleetOlder", message.FleetOlder(2, 3))
	say("FleetReady", message.FleetReady(db, 0, 3))
	say("FleetReady", message.FleetReady(db, 2, 3))
	say("FleetReady", message.FleetReady(db, 3, 3))
	say("FleetEmpty", message.FleetEmpty(db))
	say("FleetNameTaken", message.FleetNameTaken("build-3"))
	say("FleetBadName", message.FleetBadName())
	say("FleetTwin", message.FleetTwin("ant"))
	say("FleetMemberRuns", message.FleetMemberRuns("/home/ann/.local/state/belay"))
	say("FleetJoined", message.FleetJoined("build-3", db))
	say("FleetNoMachine", message.FleetNoMachine("build-3"))
	say("FleetStillThere", message.FleetStillThere("build-3"))
	say("FleetDraining", message.FleetDraining("build-3"))
	say("FleetRemoved", message.FleetRemoved("build-3"))
	say("FleetWhich", message.FleetWhich("fleet drain"))
	say("FleetLeft", message.FleetLeft("build-3"))
	say("FleetOutOfReach", message.FleetOutOfReach(message.FleetUnreachable(db, "connect: connection refused")))
	say("FleetSlotLost", message.FleetSlotLost("api"))
	say("FleetBack", message.FleetBack("42s"))
	say("FleetLocalTrouble", message.FleetLocalTrouble("gates", errors.New("permission denied")))
	say("FleetKeepTooShort", message.FleetKeepTooShort("10m"))
	say("FleetAway", message.FleetAway("build-3", "2m"))
	say("FleetWaiting", message.FleetWaiting(errors.New(message.FleetUnreachable("db.example.com:5432/belay", "connection refused"))))
	say("NeedsFleet", message.NeedsFleet("--machine"))
	say("FleetAsOf", message.FleetAsOf(message.Error(message.FleetUnreachable(db, "connection refused")), "2026-11-17 04:00:00", "5m"))
}
