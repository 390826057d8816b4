package belayd

// Names of commands that are asked for in a way of their own.
const (
	Rehearse = "rehearse"
	// RehearseTest and RehearseInit are below it.
	RehearseTest = "rehearse test"
	RehearseInit = "rehearse init"
	// Certify is belay certify.
	Certify = "certify"
	Demo    = "demo"
	UI      = "ui"
	// MCP is belay mcp for a server over a network.
	MCP = "mcp"
	// Fold brings the record up to date. A failed run has it done, and does not wait.
	Fold = "fold"
	// Telemetry is belay telemetry, and the flag of Fold that has it send.
	Telemetry = "telemetry"
	// CheckDatabase is what belay doctor leaves to belayd.
	CheckDatabase = "check-database"
	// Courier carries tasks of belay batch to the fleet, and their results back.
	Courier = "courier"
	// FleetPs, FleetGates and FleetBudget are belay ps, belay gates and belay budget with --fleet.
	FleetPs     = "ps"
	FleetGates  = "gates"
	FleetBudget = "budget"
	// Fleet is the command that those of the fleet are below.
	Fleet = "fleet"
	// FleetKeyAdd, FleetKeyList and FleetKeyRemove are about the keys of submitters.
	FleetKeyAdd    = "fleet key add"
	FleetKeyList   = "fleet key list"
	FleetKeyRemove = "fleet key remove"
)
