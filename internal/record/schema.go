package record

import (
	"fmt"
	"strings"
)

// migrations lead from one version of the schema to the next. They are only ever added to.
var migrations = withFigures(schema1, schema2, schema3, schema4, schema5, schema6, schema7, schema8, schema9, schema10, schema11, schema12, schema13, schema14, schema15, "", schema17)

// schema1: times are milliseconds since 1970, durations are milliseconds. Keys are the ids that the log has, which
// begin with the time: rows are appended, and none has to be looked up to add another.
const schema1 = `
-- How far each log file has been folded. It is known by its first line, so that it may be moved.
CREATE TABLE logs (
  identity TEXT PRIMARY KEY, name TEXT NOT NULL, position INTEGER NOT NULL, tail TEXT NOT NULL,
  lines INTEGER NOT NULL, torn INTEGER NOT NULL, folded INTEGER NOT NULL
) WITHOUT ROWID;

-- Final results that somebody may have to look at.
CREATE TABLE events (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, category TEXT NOT NULL, event_type TEXT NOT NULL,
  metadata TEXT NOT NULL, source TEXT NOT NULL UNIQUE
);
CREATE INDEX events_timestamp ON events (timestamp);

-- status and class are those of the last line; retry means that more is to come, or that belay was killed.
CREATE TABLE invocations (
  id TEXT PRIMARY KEY, started INTEGER NOT NULL, timestamp INTEGER NOT NULL, profile TEXT NOT NULL, command TEXT NOT NULL,
  model TEXT, session TEXT, status TEXT NOT NULL, class TEXT NOT NULL, exit_code INTEGER NOT NULL, attempts INTEGER NOT NULL,
  wait_ms INTEGER NOT NULL, response_ms INTEGER NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL, retry_at INTEGER, gate TEXT,
  prompt_hash TEXT
) WITHOUT ROWID;
CREATE INDEX invocations_timestamp ON invocations (timestamp);
CREATE INDEX invocations_class ON invocations (class, timestamp) WHERE class <> 'ok';
CREATE INDEX invocations_session ON invocations (session) WHERE session IS NOT NULL;

CREATE TABLE attempts (
  invocation TEXT NOT NULL, attempt INTEGER NOT NULL, timestamp INTEGER NOT NULL, status TEXT NOT NULL, class TEXT NOT NULL,
  error TEXT, rule TEXT, exit_code INTEGER NOT NULL, signal TEXT, wait_ms INTEGER NOT NULL, gate_wait_ms INTEGER NOT NULL,
  response_ms INTEGER NOT NULL, cpu_ms INTEGER NOT NULL, retry_at INTEGER, model TEXT, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL,
  left_running INTEGER NOT NULL, orphans_killed INTEGER NOT NULL, PRIMARY KEY (invocation, attempt)
) WITHOUT ROWID;
CREATE INDEX attempts_timestamp ON attempts (timestamp);

CREATE TABLE sessions (
  profile TEXT NOT NULL, id TEXT NOT NULL, dir TEXT, status TEXT NOT NULL, error_message TEXT, model TEXT, started INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, invocations INTEGER NOT NULL, attempts INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL,
  PRIMARY KEY (profile, id)
) WITHOUT ROWID;
CREATE INDEX sessions_timestamp ON sessions (timestamp);

-- delivered is when the command or webhook took it; claimed is until when a process has it in hand.
CREATE TABLE alerts (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, integration TEXT NOT NULL, failures INTEGER NOT NULL, within_ms INTEGER NOT NULL,
  message TEXT, invocation TEXT, delivered INTEGER, tries INTEGER NOT NULL DEFAULT 0, claimed INTEGER NOT NULL DEFAULT 0, trouble TEXT,
  source TEXT NOT NULL UNIQUE
);
CREATE INDEX alerts_timestamp ON alerts (timestamp);

-- Failures, and what people have changed by hand.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
  invocation TEXT, session TEXT, type TEXT, message TEXT, is_retryable INTEGER, category TEXT, severity TEXT, detail TEXT,
  source TEXT NOT NULL UNIQUE
);
CREATE INDEX audit_timestamp ON audit (timestamp);

-- Sums by quarters of an hour: every time zone's days begin at one.
CREATE TABLE rollup (
  quarter INTEGER NOT NULL, profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL, attempts INTEGER NOT NULL,
  refused INTEGER NOT NULL, ended INTEGER NOT NULL, succeeded INTEGER NOT NULL, wait_ms INTEGER NOT NULL, response_ms INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL,
  cache_creation_tokens INTEGER NOT NULL, cost_usd REAL, PRIMARY KEY (quarter, profile, model, class)
) WITHOUT ROWID;
`

// schema2: how many requests an attempt has made, and how often hooks and MCP servers have failed. Those that are on
// record already are counted; the requests of older rows are not known.
const schema2 = `
INSERT INTO rollup (quarter, profile, model, class, attempts, refused, ended, succeeded, wait_ms, response_ms, input_tokens, output_tokens,
    cache_read_tokens, cache_creation_tokens, faults)
  SELECT timestamp / 900000, json_extract(metadata, '$.integration'), '', json_extract(metadata, '$.error_type'), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, count(*)
  FROM events WHERE ` + faulty + ` GROUP BY 1, 2, 4
  ON CONFLICT (quarter, profile, model, class) DO UPDATE SET faults = faults + excluded.faults;
`

// schema3: since when there is a receiver of alerts, one row at most. What was retried is no event any more.
const schema3 = `
CREATE TABLE sink (id INTEGER PRIMARY KEY CHECK (id = 1), identity TEXT NOT NULL, since INTEGER NOT NULL);
DELETE FROM events WHERE category = 'mcp' AND event_type = 'retry';
`

// schema4: what of wait_ms was waited inside the command, and a wait after an attempt that is not known to be over. Those that
// are on record already have been counted as planned.
var schema4 = adding("attempts", "planned_wait_ms INTEGER NOT NULL DEFAULT 0")

// schema5: what the log has had since then of an attempt (tools as JSON) and of a run, and how many attempts have not
// reported all of their usage or their cost. For older rows none of that is known, except that a session which a run has
// left for another is not running any more.
var schema5 = adding("invocations", "belay_exit_code INTEGER", "parent TEXT", "traceparent TEXT") +
	adding("attempts", "session TEXT", "belay_exit_code INTEGER", "first_token_ms INTEGER", "tools TEXT", "tool_calls TEXT", "tools_cut INTEGER NOT NULL DEFAULT 0") + `
CREATE INDEX attempts_session ON attempts (session) WHERE session IS NOT NULL;
CREATE INDEX sessions_running ON sessions (timestamp) WHERE status = 'running';
UPDATE sessions SET status = 'abandoned', invocations = invocations + 1 WHERE status = 'running' AND EXISTS (
  SELECT 1 FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.timestamp = sessions.timestamp AND a.status = 'retry'
    AND i.profile = sessions.profile AND i.session <> sessions.id AND i.status <> 'retry');
`

// schema6: how many of the attempts have an estimated cost, and of how many nothing is known of the cost. Before there were
// estimates, those were all whose cost was not known.
const schema6 = `
UPDATE invocations SET no_costs = unknown_costs WHERE unknown_costs <> 0;
UPDATE sessions SET no_costs = unknown_costs WHERE unknown_costs <> 0;
`

// schema7: labels (tags are a JSON object) and the project of runs, and of the last run of a session and of an alert. Runs are
// looked up by the run that they were started in.
var schema7 = adding("invocations sessions alerts", "name TEXT", "tags TEXT", "project TEXT") + `
CREATE INDEX invocations_parent ON invocations (parent) WHERE parent IS NOT NULL;
`

// schema8: the fallback that a run has ended with, as its caller has named it, and what an attempt of a fallback was; null for the command
// of the run itself.
var schema8 = adding("invocations", "fallback TEXT") + adding("attempts", "profile TEXT", "command TEXT")

// schema10: the sums of the rollup once more for each label, and how long first tokens took, so that a page can show any of them at once. Runs
// that a fallback has ended are found by an index, as the sums count them as the fallback's.
const schema10 = `
CREATE TABLE label_rollup (
  label TEXT NOT NULL, value TEXT NOT NULL, quarter INTEGER NOT NULL, profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL,
  attempts INTEGER NOT NULL, refused INTEGER NOT NULL, ended INTEGER NOT NULL, succeeded INTEGER NOT NULL, wait_ms INTEGER NOT NULL, response_ms INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_creation_tokens INTEGER NOT NULL, cost_usd REAL,
  requests INTEGER NOT NULL, faults INTEGER NOT NULL, unknown_usage INTEGER NOT NULL, unknown_costs INTEGER NOT NULL, estimated_costs INTEGER NOT NULL,
  PRIMARY KEY (label, value, quarter, profile, model, class)
) WITHOUT ROWID;
CREATE TABLE first_tokens (
  quarter INTEGER NOT NULL, profile TEXT NOT NULL, bucket INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (quarter, profile, bucket)
) WITHOUT ROWID;
CREATE INDEX invocations_fallback ON invocations (timestamp) WHERE fallback IS NOT NULL;
INSERT INTO label_rollup
  SELECT l.label, l.value, a.timestamp / 900000, coalesce(a.profile, l.profile), coalesce(a.model, ''), a.class, sum(a.attempt > 0), sum(a.attempt = 0),
    sum(a.status <> 'retry'), sum(a.status = 'success'), sum(a.wait_ms + a.gate_wait_ms), sum(a.response_ms), sum(a.input_tokens), sum(a.output_tokens),
    sum(a.cache_read_tokens), sum(a.cache_creation_tokens), sum(a.cost_usd), sum(a.requests), 0, sum(a.unknown_usage), sum(a.unknown_costs), sum(a.estimated_costs)
  FROM (SELECT id, profile, 'name' AS label, name AS value FROM invocations WHERE name IS NOT NULL
    UNION ALL SELECT id, profile, 'project', project FROM invocations WHERE project IS NOT NULL
    UNION ALL SELECT i.id, i.profile, 'tag.' || t.key, t.value FROM invocations i, json_each(i.tags) t WHERE i.tags IS NOT NULL) l
  JOIN attempts a ON a.invocation = l.id GROUP BY 1, 2, 3, 4, 5, 6;
INSERT INTO first_tokens
  SELECT a.timestamp / 900000, coalesce(a.profile, i.profile), CAST(round(ln(a.first_token_ms) / ln(1.0905077326652577)) AS INTEGER), count(*)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.first_token_ms > 0 GROUP BY 1, 2, 3;
`

// schema12: the machine that a line comes from, in the record of a fleet.
var schema12 = adding("invocations sessions alerts audit", "machine TEXT")

// schema13: the batch that a run is a task of, by its results, the id of the task and its line; null for a run of its own.
var schema13 = adding("invocations alerts", "batch TEXT", "task TEXT", "line INTEGER") + `
CREATE INDEX invocations_batch ON invocations (batch, timestamp) WHERE batch IS NOT NULL;
`

// schema14: other programs may add events without a source. What could not be read again is refused when it is written.
const schema14 = `
CREATE TABLE events_new (
  id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL CHECK (typeof(timestamp) = 'integer'), category TEXT NOT NULL, event_type TEXT NOT NULL,
  metadata TEXT NOT NULL CHECK (json_valid(metadata)), source TEXT NOT NULL UNIQUE DEFAULT ('given ' || lower(hex(randomblob(16))))
);
INSERT INTO events_new (id, timestamp, category, event_type, metadata, source)
  SELECT id, CAST(timestamp AS INTEGER), category, event_type, iif(json_valid(metadata), metadata, json_object('error', CAST(metadata AS TEXT))), source FROM events;
DROP TABLE events;
ALTER TABLE events_new RENAME TO events;
CREATE INDEX events_timestamp ON events (timestamp);
`

// schema15: the check of the work of an attempt, as JSON, and the model that was asked for where another one worked; null if there was none.
var schema15 = adding("attempts", "checked TEXT", "model_asked TEXT")

// schema17: what has become of the work of a run that had a tree of its own, and why a run ended with an attempt, both in words; how its prompt begins, if that
// is kept. Null where there is none, and in older lines.
var schema17 = adding("attempts", "worktree TEXT", "why TEXT") + adding("invocations", "prompt TEXT")

// adding adds columns to tables.
func adding(tables string, columns ...string) (text string) {
	for table := range strings.FieldsSeq(tables) {
		for _, c := range columns {
			text += "ALTER TABLE " + table + " ADD COLUMN " + c + ";\n"
		}
	}
	return text
}

// faulty are the events that are failures of a hook or an MCP server. The others of these categories are calls that the
// proxy has retried or refused, or that were interrupted.
const faulty = `category IN ('hook', 'mcp') AND event_type <> 'retry' AND json_extract(metadata, '$.integration') IS NOT NULL
	AND coalesce(json_extract(metadata, '$.error_type'), '') NOT IN ('', 'ok', 'interrupted', 'breaker_open')
	AND NOT (category = 'mcp' AND json_extract(metadata, '$.error_type') IN ('invalid_request', 'not_found'))`

// schema9: what all lines add up to, beyond what prune removes, and since when. What is on record already is counted.
var schema9 = `
CREATE TABLE meters (
  profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, refused INTEGER NOT NULL DEFAULT 0,
  ended INTEGER NOT NULL DEFAULT 0, wait_ms INTEGER NOT NULL DEFAULT 0, inner_wait_ms INTEGER NOT NULL DEFAULT 0, gate_wait_ms INTEGER NOT NULL DEFAULT 0,
  took_ms INTEGER NOT NULL DEFAULT 0, requests INTEGER NOT NULL DEFAULT 0, inner_retries INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0, cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_creation_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0, faults INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (profile, model, class)
) WITHOUT ROWID;
-- How many values of a meter were how large; the bounds of the buckets are in the code, and do not change.
CREATE TABLE spreads (
  name TEXT NOT NULL, profile TEXT NOT NULL, model TEXT NOT NULL, class TEXT NOT NULL, bucket INTEGER NOT NULL, count INTEGER NOT NULL,
  PRIMARY KEY (name, profile, model, class, bucket)
) WITHOUT ROWID;
CREATE TABLE metered (id INTEGER PRIMARY KEY CHECK (id = 1), since INTEGER NOT NULL);
INSERT INTO meters (profile, model, class, attempts, refused, ended, wait_ms, requests, input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, cost_usd, faults)
  SELECT profile, model, class, sum(attempts), sum(refused), sum(ended), sum(wait_ms), sum(requests), sum(input_tokens), sum(output_tokens),
    sum(cache_read_tokens), sum(cache_creation_tokens), coalesce(sum(cost_usd), 0), sum(faults) FROM rollup GROUP BY profile, model, class;
INSERT INTO meters (profile, model, class, inner_wait_ms, gate_wait_ms, inner_retries)
  SELECT coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, sum(a.inner_wait_ms), sum(a.gate_wait_ms), sum(a.inner_retries)
  FROM attempts a JOIN invocations i ON i.id = a.invocation GROUP BY 1, 2, 3
  ON CONFLICT (profile, model, class) DO UPDATE SET inner_wait_ms = excluded.inner_wait_ms, gate_wait_ms = excluded.gate_wait_ms, inner_retries = excluded.inner_retries;
INSERT INTO meters (profile, model, class, took_ms)
  SELECT coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, sum(i.timestamp - i.started)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.status <> 'retry' GROUP BY 1, 2, 3
  ON CONFLICT (profile, model, class) DO UPDATE SET took_ms = excluded.took_ms;
INSERT INTO spreads (name, bucket, profile, model, class, count)
  SELECT '` + durations + `', ` + bucketSQL("(i.timestamp - i.started) / 1000.0", &DurationBounds) + `, coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, count(*)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.status <> 'retry' GROUP BY 1, 2, 3, 4, 5;
` + sizesSQL(inputSizes, "a.input_tokens + a.cache_read_tokens + a.cache_creation_tokens") + sizesSQL(outputSizes, "a.output_tokens") + `
INSERT INTO metered (id, since) SELECT 1, min(started) FROM invocations HAVING count(*) > 0;
`

// sizesSQL counts the tokens of the attempts that are on record.
func sizesSQL(name, value string) string {
	return `INSERT INTO spreads (name, bucket, profile, model, class, count)
  SELECT '` + name + `', ` + bucketSQL(value, &TokenBounds) + `, coalesce(a.profile, i.profile), coalesce(a.model, ''), a.class, count(*)
  FROM attempts a JOIN invocations i ON i.id = a.invocation WHERE a.input_tokens | a.output_tokens | a.cache_read_tokens | a.cache_creation_tokens <> 0 GROUP BY 1, 2, 3, 4, 5;
`
}

// bucketSQL is the number of the bucket that a value belongs to.
func bucketSQL(value string, bounds *[len(TokenBounds)]float64) string {
	var b strings.Builder
	b.WriteString("CASE")
	for i, bound := range bounds {
		fmt.Fprintf(&b, " WHEN %s <= %.2f THEN %d", value, bound, i)
	}
	fmt.Fprintf(&b, " ELSE %d END", len(bounds))
	return b.String()
}

// schema11: the runs that are still to be sent as traces, and what is known of the sending, one row at most. instance tells this record from
// those of other machines.
const schema11 = `
CREATE TABLE outbox (invocation TEXT PRIMARY KEY, provider TEXT) WITHOUT ROWID;
CREATE TABLE exporter (
  id INTEGER PRIMARY KEY CHECK (id = 1), instance TEXT NOT NULL, sent INTEGER NOT NULL DEFAULT 0, rejected INTEGER NOT NULL DEFAULT 0,
  last_sent INTEGER, trouble TEXT, troubled INTEGER
);
`

// withFigures are migrations that add the columns of figures first.
func withFigures(texts ...string) []string {
	for i := range figures {
		for f := &figures[i]; len(texts) < f.since; {
			texts = append(texts, "")
		}
		for _, t := range tables {
			if f := &figures[i]; f.since > t.since && f.in&t.places != 0 {
				texts[f.since-1] = adding(t.name, f.column+" INTEGER NOT NULL DEFAULT 0") + texts[f.since-1]
			}
		}
	}
	return texts
}
