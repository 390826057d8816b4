-- The texts of results that are large, encrypted in parts as results are. mark is the run that has written them: parts of an attempt that has lost its job belong to no result, and go with the job.
create table belay.result_part (
	job   bigint not null references belay.job on delete cascade,
	mark  text not null,
	n     integer not null,
	data  bytea not null,
	primary key (job, mark, n)
);
alter table belay.result_part alter column data set storage external;  -- what is encrypted cannot be compressed
