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
names; a DSN that has one is refused. Details: https://github.com/belay-run/belay/blob/main/docs/fleet.md`,
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
Run one per machine and user, for example by systemd: https://github.com/belay-run/belay/blob/main/docs/fleet.md`,
			Flags: []Flag{
				dsn(),
				{Name: "name", Arg: "NAME", Help: "the machine's name in the fleet (default: its host name)"},
				{Name: "workers", Arg: "N", Default: "0", Help: "work on N jobs of belay batch --fleet at a time (default 0)"},
				{Name: "allow", Arg: "WHAT", Help: "let jobs run this CLI (or claude:plain), work in this directory or on commits of this repository, or bring files (archive); may be repeated", Several: true},
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
		{
			Name:    "fleet key",
			Use:     "key",
			Summary: "Give submitters keys of their own, and withdraw them",
			Examples: `Let ann submit jobs, and not work on them:
  belay fleet key add ann -o ann.key
See who has a key:
  belay fleet key list
Withdraw it:
  belay fleet key remove ann`,
			Long: `Machines that work on jobs share the fleet's key. A submitter can have a key of its own: with it belay batch --fleet submits jobs and reads their results, and nothing else can
be done. It can be withdrawn, and the runs of its jobs have the tag submitter=NAME. Details: https://github.com/belay-run/belay/blob/main/docs/fleet.md`,
			Parent: true,
		},
		{
			Name:    FleetKeyAdd,
			Use:     "add [flags] NAME",
			Summary: "Make a key for a submitter",
			Examples: `Write it to a file:
  belay fleet key add ann -o ann.key
Send it to the machine that submits:
  belay fleet key add ann | ssh ann@build-3 'umask 077; cat > fleet.key'`,
			Long: `Makes a key with which belay batch --fleet submits jobs, and prints it. It goes where the fleet's key is on other machines: into fleet.key beside config.toml, or into the file that
BELAY_FLEET_KEY names. Needs the fleet's key.`,
			Flags: []Flag{dsn(), {Name: "output", Short: "o", Arg: "FILE", Help: "write the key to FILE, which must not exist yet; - prints it, also on a terminal"}},
			Args:  Args{What: "name", Example: "belay fleet key add ann"},
		},
		{
			Name:    FleetKeyList,
			Use:     "list",
			Summary: "Show who has a key",
			Examples: `Show the submitters:
  belay fleet key list`,
			Long:  `Shows the submitters whose keys were not withdrawn. Needs the fleet's key.`,
			Flags: []Flag{dsn(), {Name: "json", Help: "print JSON, one object per line"}},
		},
		{
			Name:    FleetKeyRemove,
			Use:     "remove [flags] NAME",
			Summary: "Withdraw the key of a submitter",
			Examples: `Withdraw it:
  belay fleet key remove ann`,
			Long:  `Jobs that the submitter has submitted, and that no machine has begun, are refused from then on; those that are running continue. Needs the fleet's key.`,
			Flags: []Flag{dsn()},
			Args:  Args{What: "name", Example: "belay fleet key remove ann"},
		},
	}
}

// inFleet are the flags of commands that can show the whole fleet.
func inFleet() []Flag {
	fleet := dsn()
	fleet.Help = "with --fleet: " + fleet.Help
	return []Flag{
		{Name: "fleet", Help: "show all machines of the fleet"},
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
