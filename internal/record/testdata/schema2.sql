PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE logs (
  identity TEXT PRIMARY KEY, name TEXT NOT NULL, position INTEGER NOT NULL, tail TEXT NOT NULL,
  lines INTEGER NOT NULL, torn INTEGER NOT NULL, folded INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO logs VALUES('99518bf405852e33e374b166','log.jsonl',3413,'36fe29a2a4dc58828e0d2a3a',8,0,1794757250910);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, category TEXT NOT NULL, event_type TEXT NOT NULL,
  metadata TEXT NOT NULL, source TEXT NOT NULL UNIQUE
);
INSERT INTO events VALUES(1,1794757250680,'integration','failure','{"integration":"generic","error":"sh exited 1 (network): connection reset by peer","retry_count":1,"error_type":"network","invocation":"01a1dfde-4e72-7eec-b887-0c6413ce9425","command":"sh","exit_code":1,"rule":"exit-code"}','01a1dfde-4e72-7eec-b887-0c6413ce9425');
INSERT INTO events VALUES(2,1794757250895,'integration','failure','{"integration":"generic","error":"sleep exceeded its timeout (0.2 s) and was terminated","retry_count":0,"error_type":"timeout","invocation":"01a1dfde-4e82-7046-a0fb-c546baf95677","command":"sleep","exit_code":143,"rule":"timeout"}','01a1dfde-4e82-7046-a0fb-c546baf95677');
CREATE TABLE invocations (
  id TEXT PRIMARY KEY, started INTEGER NOT NULL, timestamp INTEGER NOT NULL, profile TEXT NOT NULL, command TEXT NOT NULL,
  model TEXT, session TEXT, status TEXT NOT NULL, class TEXT NOT NULL, exit_code INTEGER NOT NULL, attempts INTEGER NOT NULL,
  wait_ms INTEGER NOT NULL, response_ms INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL, retry_at INTEGER, gate TEXT,
  prompt_hash TEXT
, requests INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO invocations VALUES('01a1dfb1-c62c-7daf-9fc8-a777b0f859e7',1794754332213,1794754339118,'claude','claude','claude-opus-5-5','c09b7166-ca65-4e7e-85a2-6fef12cb1923','success','ok',0,2,108,6792,300,30,0,0,0.0012000000000000001117,NULL,'claude:127.0.0.1:46491:ab7efada','8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4',2);
INSERT INTO invocations VALUES('01a1dfb1-e25f-7b04-a3d6-3d75914e99c3',1794754339427,1794754344715,'codex','codex','gpt-6.1-sol','01a1dfb1-f5e2-7183-bbb1-309b21ff45c5','success','ok',0,2,16,5270,200,20,0,0,NULL,NULL,'codex:127.0.0.1:46005:ab7efada',NULL,1);
INSERT INTO invocations VALUES('01a1dfde-4e59-7c94-b81e-36dfead68d09',1794757250650,1794757250651,'generic','true',NULL,NULL,'success','ok',0,1,0,1,0,0,0,0,NULL,NULL,NULL,NULL,0);
INSERT INTO invocations VALUES('01a1dfde-4e72-7eec-b887-0c6413ce9425',1794757250675,1794757250680,'generic','sh',NULL,NULL,'exhausted','network',1,2,1,2,0,0,0,0,NULL,NULL,NULL,NULL,0);
INSERT INTO invocations VALUES('01a1dfde-4e82-7046-a0fb-c546baf95677',1794757250692,1794757250895,'generic','sleep',NULL,NULL,'error','timeout',143,1,0,203,0,0,0,0,NULL,NULL,NULL,NULL,0);
CREATE TABLE attempts (
  invocation TEXT NOT NULL, attempt INTEGER NOT NULL, timestamp INTEGER NOT NULL, status TEXT NOT NULL, class TEXT NOT NULL,
  error TEXT, rule TEXT, exit_code INTEGER NOT NULL, signal TEXT, wait_ms INTEGER NOT NULL, gate_wait_ms INTEGER NOT NULL,
  response_ms INTEGER NOT NULL, cpu_ms INTEGER NOT NULL, retry_at INTEGER, model TEXT, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL,
  left_running INTEGER NOT NULL, orphans_killed INTEGER NOT NULL, requests INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (invocation, attempt)
) WITHOUT ROWID;
INSERT INTO attempts VALUES('01a1dfb1-c62c-7daf-9fc8-a777b0f859e7',1,1794754337477,'retry','stalled','claude produced no output for 4 s and was terminated','stall',0,NULL,108,0,5264,1058,NULL,'claude-opus-5-5',100,10,0,0,NULL,0,0,1);
INSERT INTO attempts VALUES('01a1dfb1-c62c-7daf-9fc8-a777b0f859e7',2,1794754339118,'success','ok',NULL,NULL,0,NULL,0,0,1528,724,NULL,'claude-opus-5-5',200,20,0,0,0.0012000000000000001117,0,0,1);
INSERT INTO attempts VALUES('01a1dfb1-e25f-7b04-a3d6-3d75914e99c3',1,1794754344255,'retry','stalled','codex produced no output for 4 s and was terminated','stall',1,NULL,16,0,4828,396,NULL,'gpt-6.1-sol',0,0,0,0,NULL,0,0,0);
INSERT INTO attempts VALUES('01a1dfb1-e25f-7b04-a3d6-3d75914e99c3',2,1794754344715,'success','ok',NULL,NULL,0,NULL,0,0,442,265,NULL,'gpt-6.1-sol',200,20,0,0,NULL,0,0,1);
INSERT INTO attempts VALUES('01a1dfde-4e59-7c94-b81e-36dfead68d09',1,1794757250651,'success','ok',NULL,NULL,0,NULL,0,0,1,0,NULL,NULL,0,0,0,0,NULL,0,0,0);
INSERT INTO attempts VALUES('01a1dfde-4e72-7eec-b887-0c6413ce9425',1,1794757250676,'retry','network','sh exited 1 (network): connection reset by peer','exit-code',1,NULL,1,0,1,1,NULL,NULL,0,0,0,0,NULL,0,0,0);
INSERT INTO attempts VALUES('01a1dfde-4e72-7eec-b887-0c6413ce9425',2,1794757250680,'exhausted','network','sh exited 1 (network): connection reset by peer','exit-code',1,NULL,0,0,1,1,NULL,NULL,0,0,0,0,NULL,0,0,0);
INSERT INTO attempts VALUES('01a1dfde-4e82-7046-a0fb-c546baf95677',1,1794757250895,'error','timeout','sleep exceeded its timeout (0.2 s) and was terminated','timeout',143,'SIGTERM',0,0,203,1,NULL,NULL,0,0,0,0,NULL,0,0,0);
CREATE TABLE sessions (
  profile TEXT NOT NULL, id TEXT NOT NULL, dir TEXT, status TEXT NOT NULL, error_message TEXT, model TEXT, started INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, invocations INTEGER NOT NULL, attempts INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL,
  PRIMARY KEY (profile, id)
) WITHOUT ROWID;
INSERT INTO sessions VALUES('claude','a8225189-ab36-40d3-9865-a349dce8902a',NULL,'running',NULL,'claude-opus-5-5',1794754332213,1794754337477,0,1,100,10,0,0,NULL);
INSERT INTO sessions VALUES('claude','c09b7166-ca65-4e7e-85a2-6fef12cb1923',NULL,'done',NULL,'claude-opus-5-5',1794754337590,1794754339118,1,1,200,20,0,0,0.0012000000000000001117);
INSERT INTO sessions VALUES('codex','01a1dfb1-e4b9-7ec3-9881-46357131fa25',NULL,'running',NULL,'gpt-6.1-sol',1794754339427,1794754344255,0,1,0,0,0,0,NULL);
INSERT INTO sessions VALUES('codex','01a1dfb1-f5e2-7183-bbb1-309b21ff45c5',NULL,'done',NULL,'gpt-6.1-sol',1794754344273,1794754344715,1,1,200,20,0,0,NULL);
CREATE TABLE alerts (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, integration TEXT NOT NULL, failures INTEGER NOT NULL, within_ms INTEGER NOT NULL,
  message TEXT, invocation TEXT, delivered INTEGER, tries INTEGER NOT NULL DEFAULT 0, claimed INTEGER NOT NULL DEFAULT 0, trouble TEXT,
  source TEXT NOT NULL UNIQUE
);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
  invocation TEXT, session TEXT, type TEXT, message TEXT, is_retryable INTEGER, category TEXT, severity TEXT, detail TEXT,
  source TEXT NOT NULL UNIQUE
);
INSERT INTO audit VALUES(1,1794757250680,'belay','failure','generic','01a1dfde-4e72-7eec-b887-0c6413ce9425',NULL,'network','sh exited 1 (network): connection reset by peer',1,'connection','warning',NULL,'01a1dfde-4e72-7eec-b887-0c6413ce9425');
INSERT INTO audit VALUES(2,1794757250895,'belay','failure','generic','01a1dfde-4e82-7046-a0fb-c546baf95677',NULL,'timeout','sleep exceeded its timeout (0.2 s) and was terminated',1,'connection','warning',NULL,'01a1dfde-4e82-7046-a0fb-c546baf95677');
CREATE TABLE rollup (
  quarter INTEGER NOT NULL, profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL, attempts INTEGER NOT NULL,
  refused INTEGER NOT NULL, ended INTEGER NOT NULL, succeeded INTEGER NOT NULL, wait_ms INTEGER NOT NULL, response_ms INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL,
  cache_creation_tokens INTEGER NOT NULL, cost_usd REAL, requests INTEGER NOT NULL DEFAULT 0, faults INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (quarter, profile, model, class)
) WITHOUT ROWID;
INSERT INTO rollup VALUES(1994171,'claude','claude-opus-5-5','ok',1,0,1,1,0,1528,200,20,0,0,0.0012000000000000001117,1,0);
INSERT INTO rollup VALUES(1994171,'claude','claude-opus-5-5','stalled',1,0,0,0,108,5264,100,10,0,0,NULL,1,0);
INSERT INTO rollup VALUES(1994171,'codex','gpt-6.1-sol','ok',1,0,1,1,0,442,200,20,0,0,NULL,1,0);
INSERT INTO rollup VALUES(1994171,'codex','gpt-6.1-sol','stalled',1,0,0,0,16,4828,0,0,0,0,NULL,0,0);
INSERT INTO rollup VALUES(1994174,'generic','','network',2,0,1,0,1,2,0,0,0,0,NULL,0,0);
INSERT INTO rollup VALUES(1994174,'generic','','ok',1,0,1,1,0,1,0,0,0,0,NULL,0,0);
INSERT INTO rollup VALUES(1994174,'generic','','timeout',1,0,1,0,0,203,0,0,0,0,NULL,0,0);
CREATE INDEX events_timestamp ON events (timestamp);
CREATE INDEX invocations_timestamp ON invocations (timestamp);
CREATE INDEX invocations_class ON invocations (class, timestamp) WHERE class <> 'ok';
CREATE INDEX invocations_session ON invocations (session) WHERE session IS NOT NULL;
CREATE INDEX attempts_timestamp ON attempts (timestamp);
CREATE INDEX sessions_timestamp ON sessions (timestamp);
CREATE INDEX alerts_timestamp ON alerts (timestamp);
CREATE INDEX audit_timestamp ON audit (timestamp);
COMMIT;
PRAGMA user_version = 2;
