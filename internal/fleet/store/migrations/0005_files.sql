-- Archives of the files that jobs work on, encrypted as jobs are: one for all jobs of a batch that work on the same. It goes with the last job that needs it.
create table belay.archive (
	batch    text not null,
	name     text not null,                          -- made of what is in it, with the key
	created  timestamptz not null default now(),
	primary key (batch, name)
);
create table belay.archive_part (
	batch  text not null,
	name   text not null,
	n      integer not null,
	data   bytea not null,
	primary key (batch, name, n),
	foreign key (batch, name) references belay.archive on delete cascade
);
alter table belay.archive_part alter column data set storage external;  -- what is encrypted cannot be compressed

alter table belay.job add column archive text;
alter table belay.job add constraint job_archive foreign key (batch, archive) references belay.archive;
create index job_archive on belay.job (batch, archive) where archive is not null;
