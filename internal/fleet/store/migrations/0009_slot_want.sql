-- Which machines wait for a slot of a key: those that have one which they do not use look here, and give it back.
create table belay.slot_want (
	key      text not null,
	machine  text not null,
	expires  timestamptz not null,
	primary key (key, machine)
);
