-- By how many seconds the clock of the machine was ahead of this one when it shipped the line: its times are those of the machine.
alter table belay.log_line add column clock_ahead real not null default 0;
