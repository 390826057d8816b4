package belayd

// fleet are the commands of machines that share one account. The first is what the others are below.
func fleet() []Command {
	return []Command{
		{
			Name:    Fleet,
			Use:     "fleet",
			Summary: "Share gates between machines, with PostgreSQL",
			Examples: `Create the fleet in a database, once:
  belay fleet init --dsn postgres://belay@db.example.com/belay
Take part, on each machine:
  belay fleet join
See which machines there are:
  belay fleet status`,
			Long: `Limits belong to the account, not to the machine. A fleet lets machines that use one account share what they know, in a PostgreSQL database.
The database is named by --dsn, by BELAY_FLEET_DSN, or by libpq's variables (PGHOST, PGDATABASE, PGSERVICE …). A password belongs in ~/.pgpass or in the file that PGPASSFILE
names; a DSN that has one is refused. Details: docs/fleet.md`,
			Parent: true,
		},
		{
			Name:    "fleet init",
			Use:     "init",
			Summary: "Create the fleet's tables, or upgrade them",
			Examples: `Create the fleet:
  belay fleet init --dsn postgres://belay@db.example.com/belay
Keep what the machines log for a month:
  belay fleet init --keep 30d`,
			Long: `Creates the schema belay in the database, with the fleet's tables and those of River, the queue. In a database that has them already, it upgrades them; members
may be running meanwhile.
The jobs of belay batch --fleet are encrypted with a key that is made here, in the file fleet.key beside config.toml, or in the one that BELAY_FLEET_KEY names. The machines share that file.`,
			Flags: []Flag{dsn(), {Name: "keep", Arg: "D", Help: "how long the fleet keeps what machines have logged, at least 1h (default 90d); of a fleet that is there, it changes that"},
				{Name: "keep-results", Arg: "D", Help: "how long the fleet keeps jobs and results of a belay batch that does not come back for them, at least 1h (default 30d)"}, {Name: "plain", Help: "do not encrypt the jobs of belay batch --fleet"}},
		},
		{
			Name:    "fleet join",
			Use:     "join",
			Summary: "Take part in the fleet with this machine, until stopped",
			Examples: `Take part:
  belay fleet join --dsn postgres://belay@db.example.com/belay
Under another name, with labels:
  belay fleet join --name build-3 --label gpu
Work on jobs as well, four at a time:
  belay fleet join --workers 4 --allow claude`,
			Long: `Runs until it is stopped, and shares gates with the other machines: a limit that one of them meets holds the next start on all. After a hold the fleet
starts slowly as a whole. Runs need no flag for it and never wait for PostgreSQL; while that is out of reach, the machine continues by itself.
With --workers it also works on the jobs of belay batch --fleet, as far as --allow and [fleet] allow in config.toml let it.
Run one per machine and user, for example by systemd: docs/fleet.md`,
			Flags: []Flag{
				dsn(),
				{Name: "name", Arg: "NAME", Help: "the machine's name in the fleet (default: its host name)"},
				{Name: "workers", Arg: "N", Default: "0", Help: "work on N jobs of belay batch --fleet at a time (default 0)"},
				{Name: "allow", Arg: "WHAT", Help: "let jobs run this CLI, work in this directory or on commits of this repository, or bring files (archive); may be repeated", Several: true},
				{Name: "label", Arg: "LABEL", Help: "what the machine has that others may lack; may be repeated", Several: true},
			},
		},
		{
			Name:    "fleet drain",
			Use:     "drain [flags] MACHINE",
			Summary: "Have a machine finish its jobs and leave the fleet",
			Examples: `Take a machine out of service:
  belay fleet drain build-3`,
			Long:  `The machine takes no more jobs, finishes those that it has, and then leaves: belay fleet join ends there. It can join again at any time.`,
			Flags: []Flag{dsn()},
			Args:  Args{What: "machine", Example: "belay fleet drain build-3"},
		},
		{
			Name:    "fleet remove",
			Use:     "remove [flags] MACHINE",
			Summary: "Forget a machine that does not come back",
			Examples: `Forget a machine that is gone:
  belay fleet remove build-3`,
			Long:  `Removes a machine that has left, or has not been seen for 15 seconds, and frees what it held. Its log stays.`,
			Flags: []Flag{dsn()},
			Args:  Args{What: "machine", Example: "belay fleet remove build-3"},
		},
		{
			Name:    "fleet status",
			Use:     "status",
			Summary: "Show the machines of the fleet",
			Examples: `Show the machines:
  belay fleet status
Use it in a script:
  belay fleet status --json`,
			Long:  `Shows one line per machine: whether it is there, its version and labels, and by how much its clock differs from PostgreSQL's.`,
			Flags: []Flag{dsn(), {Name: "json", Help: "print JSON, one object per line"}},
		},
	}
}

// inFleet are the flags of commands that can show the whole fleet.
func inFleet() []Flag {
	fleet := dsn()
	fleet.Help = "with --fleet: " + fleet.Help
	return []Flag{
		{Name: "fleet", Help: "show all machines of the fleet (docs/fleet.md)"},
		{Name: "machine", Arg: "NAME", Group: Filters, Help: "with --fleet: only what is from this machine"},
		fleet,
	}
}

// shownFleet are the flags of commands of belay that belayd carries out with --fleet.
func shownFleet() []Flag {
	fleet := dsn()
	fleet.Hidden = true
	return []Flag{{Name: "json", Help: "print JSON, one object per line", Hidden: true}, fleet}
}

func dsn() Flag {
	return Flag{Name: "dsn", Arg: "DSN", Help: "the fleet's PostgreSQL, as a URL or as key=value pairs, without a password (default: BELAY_FLEET_DSN, PGHOST …)"}
}
