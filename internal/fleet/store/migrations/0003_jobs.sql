-- The jobs of belay batch --fleet. River's queue says who works on what next; this table says what it is and how it stands. The lease is ours:
-- River has none. attempt is the fencing number: what is reported of an earlier one is refused.
create table belay.job (
	id               bigint generated always as identity primary key,
	batch            text not null,
	task             text not null,
	hash             text not null,
	state            text not null default 'ready' check (state in ('ready', 'running', 'over')),
	attempt          integer not null default 1,
	needs            text[] not null default '{}',   -- labels that the machine must have
	payload          bytea,                          -- what to run; deleted with the result
	created          timestamptz not null default now(),
	machine          text,                           -- that works on it, or has
	river            bigint,                         -- the job of the queue that it was taken by
	lease            timestamptz,
	started          timestamptz,
	doing            text not null default '',
	cost             double precision not null default 0,
	session          text,                           -- in which an agent works, and where that session is
	session_machine  text,
	cancelled        boolean not null default false,
	refused          text[] not null default '{}',   -- machines that do not run it
	refusal          text not null default '',
	result           bytea,
	ended            timestamptz,
	unique (batch, task, hash)
);
create index job_lease on belay.job (lease) where state = 'running';
create index job_over on belay.job (batch, ended) where state = 'over';
create index job_running on belay.job (batch) where state = 'running';

-- The machines that work on jobs.
create table belay.worker (
	machine   text primary key,
	workers   integer not null,
	labels    text[] not null default '{}',
	draining  boolean not null default false,
	seen      timestamptz not null default now()
);
