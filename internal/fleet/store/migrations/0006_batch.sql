-- When the submitter of a batch was last there. Jobs and results of one that does not come back are deleted after a time.
create table belay.batch (
	name  text primary key,
	seen  timestamptz not null default now()
);
insert into belay.batch (name) select distinct batch from belay.job;
insert into belay.setting (name, value) values ('keep_results', '2592000') on conflict do nothing; -- seconds: 30 days
