package message

import "fmt"

// FleetPooler says that something between Belay and PostgreSQL shares connections between clients.
func FleetPooler(address string) string {
	return fmt.Sprintf("the pooler at %s shares connections between clients; PgBouncer needs pool_mode = session for a fleet, not transaction", address)
}

// FleetNewer says that a later Belay has changed the tables.
func FleetNewer(there, ours int) string {
	return fmt.Sprintf("the fleet has schema version %d, and this belay knows %d; upgrade belay on this machine", there, ours)
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

// FleetNoMachine says that no machine has this name.
func FleetNoMachine(name string) string {
	return fmt.Sprintf("there is no machine %s in the fleet; see: belay fleet status", name)
}

// FleetDraining says that a machine was asked to leave.
func FleetDraining(name string) string {
	return name + " finishes what it is doing, and then leaves the fleet"
}

// FleetRemoved says that a machine is forgotten.
func FleetRemoved(name string) string { return "removed " + name + " from the fleet" }

// FleetWaiting says that a machine which is to join waits until PostgreSQL can be reached.
func FleetWaiting(err error) string { return fmt.Sprintf("%v; waiting until it can be reached", err) }

// FleetLocalTrouble says that a file of this machine could not be read or written.
func FleetLocalTrouble(what string, err error) string {
	return fmt.Sprintf("cannot share %s with the fleet: %v", what, err)
}

// FleetAway says that a machine has not been heard of for some time.
func FleetAway(name, silent string) string {
	return fmt.Sprintf("%s was last seen %s ago, and is left out here", name, silent)
}

// NeedsFleet says that a flag means something only with --fleet.
func NeedsFleet(flag string) string { return flag + " needs --fleet" }

// FleetAsOf says that PostgreSQL could not be asked, and how old what is shown is.
func FleetAsOf(why error, at, age string) string {
	return Sentences(why.Error(), fmt.Sprintf("this is the fleet as of %s, %s ago", at, age))
}
