-- What stands before the position, by which a log that was changed by hand is noticed: it is then shipped once more, as another edition.
alter table belay.log_position add column tail text not null default '';
alter table belay.log_position add column edition integer not null default 0;

-- What holds for the fleet as a whole.
create table belay.setting (
	name   text primary key,
	value  text not null
);
insert into belay.setting (name, value) values ('id', gen_random_uuid()::text), ('keep', '7776000'); -- seconds: 90 days

-- The runs that are under way, as each machine sees its own. They are here for as long as the machine is.
create table belay.run (
	machine     text not null,
	id          text not null,
	generation  bigint not null,
	record      json not null,
	changed     timestamptz not null default now(),
	primary key (machine, id)
);
