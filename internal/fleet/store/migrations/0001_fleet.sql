-- Generations are never given twice, not even to a machine that was removed and comes back.
create sequence belay.generation;

-- The machines of the fleet. A member writes only while its generation is the one that stands here: one that was frozen or cut off for
-- too long finds another one, and joins anew. All times are those of PostgreSQL.
create table belay.machine (
	name         text primary key,
	instance     text not null,              -- of its state directory
	generation   bigint not null default nextval('belay.generation'),
	joined       timestamptz not null default now(),
	seen         timestamptz not null default now(),
	left_at      timestamptz,                -- null while it is a member
	version      text not null default '',
	labels       text[] not null default '{}',
	draining     boolean not null default false,
	clock_ahead  double precision not null default 0 -- by how many seconds its clock is ahead of this one
);

-- What is known of each gate. The state is null where it is healthy again: others then forget theirs. Its times are PostgreSQL's.
create table belay.gate (
	key      text primary key,
	state    jsonb,
	version  bigint not null default 1,
	machine  text not null,
	changed  timestamptz not null default now()
);
create index gate_changed on belay.gate (changed);

-- How many of the next starts at a gate that starts slowly after a hold belong to a machine.
create table belay.turn (
	key         text not null,
	machine     text not null,
	granted     integer not null,
	expires     timestamptz not null,
	primary key (key, machine)
);

-- The slots of --max-parallel, leased to machines.
create table belay.slot (
	key         text not null,
	index       integer not null,
	machine     text not null,
	generation  bigint not null,
	expires     timestamptz not null,
	primary key (key, index)
);
create index slot_machine on belay.slot (machine);

-- What each machine has spent of a budget in a period, and what it may still spend.
create table belay.budget (
	name     text not null,
	period   text not null,
	machine  text not null,
	usd      double precision not null default 0,
	unknown  bigint not null default 0,      -- calls whose cost is not known
	changed  timestamptz not null default now(),
	primary key (name, period, machine)
);
create table belay.budget_share (
	name        text not null,
	period      text not null,
	machine     text not null,
	generation  bigint not null,
	usd         double precision not null,
	expires     timestamptz not null,
	primary key (name, period, machine)
);

-- The logs of all machines, a row a line. How far each is here stands in the transaction that adds its lines. Lines of one file are
-- committed in the order of their positions; seq alone is not the order in which transactions end.
create table belay.log_position (
	machine   text not null,
	identity  text not null,                 -- of the file, by its first line
	position  bigint not null,
	changed   timestamptz not null default now(),
	primary key (machine, identity)
);
create table belay.log_line (
	machine   text not null,
	identity  text not null,
	position  bigint not null,               -- where the line begins
	seq       bigint generated always as identity,
	line      bytea not null,
	added     timestamptz not null default now(),
	primary key (machine, identity, position)
);
create index log_line_seq on belay.log_line (seq);
