package message

import "fmt"

// FleetNoAddress says that nothing names the PostgreSQL of the fleet.
func FleetNoAddress() string {
	return "the fleet's PostgreSQL is not set; use --dsn, BELAY_FLEET_DSN or PGHOST and PGDATABASE"
}

// FleetPassFile says that a file of passwords is not used, as psql does.
func FleetPassFile(why error) string {
	return fmt.Sprintf("ignoring the password file: %v", why)
}

// FleetPassword says that a password does not belong in an address.
func FleetPassword() string {
	return "the DSN contains a password, which other users could read; put it in ~/.pgpass, or in a file that PGPASSFILE names"
}

// FleetBadAddress says that an address is not understood.
func FleetBadAddress(why string) string { return "cannot read the DSN: " + why }

// FleetPooler says that something between Belay and PostgreSQL shares connections between clients.
func FleetPooler(address string) string {
	return fmt.Sprintf("the pooler at %s shares connections between clients; PgBouncer needs pool_mode = session for a fleet, not transaction", address)
}

// FleetUnreachable says that there is no connection to PostgreSQL.
func FleetUnreachable(address, why string) string {
	return fmt.Sprintf("cannot reach PostgreSQL at %s: %s", address, why)
}

// FleetRefused says that PostgreSQL has refused what was asked.
func FleetRefused(address, why string) string {
	return fmt.Sprintf("PostgreSQL at %s refused: %s", address, why)
}

// FleetNoRights says that the role may not do what it has to.
func FleetNoRights(address, why string) string {
	return fmt.Sprintf("PostgreSQL at %s refused: %s; the rights that a role needs are in docs/fleet.md", address, why)
}

// FleetNotInitialised says that the database has no tables of a fleet.
func FleetNotInitialised(address string) string {
	return fmt.Sprintf("there is no fleet at %s yet; create it with: belay fleet init", address)
}

// FleetNewer says that a later Belay has changed the tables.
func FleetNewer(there, ours int) string {
	return fmt.Sprintf("the fleet has schema version %d, and this belay knows %d; upgrade belay on this machine", there, ours)
}

// FleetOlder says that the tables have to be changed first.
func FleetOlder(there, ours int) string {
	return fmt.Sprintf("the fleet has schema version %d, and this belay needs %d; upgrade it with: belay fleet init", there, ours)
}

// FleetReady says what belay fleet init has done.
func FleetReady(address string, from, to int) string {
	switch {
	case from == 0:
		return fmt.Sprintf("created the fleet at %s; on each machine, run: belay fleet join", address)
	case from < to:
		return fmt.Sprintf("upgraded the fleet at %s from schema version %d to %d", address, from, to)
	}
	return fmt.Sprintf("the fleet at %s is up to date", address)
}

// FleetEmpty says that no machine has joined.
func FleetEmpty(address string) string {
	return fmt.Sprintf("no machine has joined the fleet at %s; on each machine, run: belay fleet join", address)
}

// FleetNameTaken says that another machine has this name.
func FleetNameTaken(name string) string {
	return fmt.Sprintf("another machine is in the fleet as %s; choose another name with --name", name)
}

// FleetTwin says that another machine has this name, and a copy of this state directory.
func FleetTwin(name string) string {
	return fmt.Sprintf("another machine with a copy of this state directory is in the fleet as %s; choose another name with --name", name)
}

// FleetMemberRuns says that this machine is a member already.
func FleetMemberRuns(dir string) string {
	return fmt.Sprintf("belay fleet join is already running for %s", dir)
}

// FleetJoined says that the machine is a member now.
func FleetJoined(name, address string) string {
	return fmt.Sprintf("joined the fleet at %s as %s", address, name)
}

// FleetNoMachine says that no machine has this name.
func FleetNoMachine(name string) string {
	return fmt.Sprintf("there is no machine %s in the fleet; see: belay fleet status", name)
}

// FleetStillThere says that a machine cannot be removed while it is there.
func FleetStillThere(name string) string {
	return fmt.Sprintf("%s is still in the fleet; have it leave with: belay fleet drain %s", name, name)
}

// FleetDraining says that a machine was asked to leave.
func FleetDraining(name string) string {
	return name + " finishes what it is doing, and then leaves the fleet"
}

// FleetRemoved says that a machine is forgotten.
func FleetRemoved(name string) string { return "removed " + name + " from the fleet" }

// FleetWaiting says that a machine which is to join waits until PostgreSQL can be reached.
func FleetWaiting(err error) string { return fmt.Sprintf("%v; waiting until it can be reached", err) }

// FleetWhich says that a command needs the name of a machine.
func FleetWhich(command string) string {
	return fmt.Sprintf("which machine? For example: belay %s build-3", command)
}

// FleetLeft says that the machine is a member no more.
func FleetLeft(name string) string { return name + " has left the fleet" }

// FleetOutOfReach says that PostgreSQL cannot be used for the time being.
func FleetOutOfReach(why string) string {
	return "the fleet is out of reach; this machine continues with what it has. " + why
}

// FleetBack says that PostgreSQL can be used again.
func FleetBack(after string) string { return "the fleet is back after " + after }

// FleetLocalTrouble says that a file of this machine could not be read or written.
func FleetLocalTrouble(what string, err error) string {
	return fmt.Sprintf("cannot share %s with the fleet: %v", what, err)
}

// FleetBadName says that a machine cannot have this name.
func FleetBadName() string { return "--name: too long, or has control characters" }

// FleetKeepTooShort says that a fleet has to keep logs for longer.
func FleetKeepTooShort(value string) string { return fmt.Sprintf("%q is less than 1h", value) }

// FleetAway says that a machine has not been heard of for some time.
func FleetAway(name, silent string) string {
	return fmt.Sprintf("%s was last seen %s ago, and is left out here", name, silent)
}

// NeedsFleet says that a flag means something only with --fleet.
func NeedsFleet(flag string) string { return flag + " needs --fleet" }

// FleetAsOf says that PostgreSQL could not be asked, and how old what is shown is.
func FleetAsOf(why error, at, age string) string {
	return sentences(why.Error(), fmt.Sprintf("this is the fleet as of %s, %s ago", at, age))
}

// FleetSlotLost says that a run holds a slot that another machine has been given meanwhile.
func FleetSlotLost(key string) string {
	return fmt.Sprintf("gate %s has more runs than slots for now: this machine was out of reach for too long", key)
}
