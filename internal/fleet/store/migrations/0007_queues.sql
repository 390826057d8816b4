-- Jobs that not every machine runs, because they need labels or were refused: each worker looks for their queues every few seconds.
create index job_queues on belay.job (needs, refused) where state = 'ready' and (needs <> '{}' or refused <> '{}');
