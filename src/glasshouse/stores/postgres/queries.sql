-- Statements of the PostgreSQL store. The parts of a commit stand below: they are joined into one statement, and their parameters
-- are counted on from those before them, so each part counts its own from :1.

-- name: settings
SELECT current_setting('server_version_num')::int, current_setting('fsync'), current_setting('synchronous_commit'), pg_is_in_recovery(),
    current_setting('transaction_read_only');

-- Not `to_regclass`: in a transaction that has waited for a lock, it may still remember that there was no such table.
-- name: has_schema
SELECT EXISTS (
    SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'glasshouse' AND c.relname = 'versions'
);

-- name: version
SELECT max(version) FROM glasshouse.versions;

-- name: missing_grant
SELECT format('GRANT CREATE ON DATABASE %I TO %I', current_database(), current_user)
WHERE NOT has_database_privilege(current_database(), 'CREATE');

-- name: lock_migrations
SELECT pg_advisory_xact_lock(5138008640223773768);

-- name: add_version
INSERT INTO glasshouse.versions (version) VALUES ($1);

-- name: house
SELECT h.number, h.id, h.format, h.epoch, h.token, h.owner, h.owner_words, b.beat,
    extract(epoch FROM clock_timestamp() - b.at)::float8 AS silent_seconds
FROM glasshouse.houses h JOIN glasshouse.beats b ON b.house = h.number WHERE h.name = $1;

-- name: house_names
SELECT name FROM glasshouse.houses ORDER BY name LIMIT $1;

-- name: add_house
WITH added AS (
    INSERT INTO glasshouse.houses (name, id, format) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING RETURNING number
), beating AS (
    INSERT INTO glasshouse.beats (house) SELECT number FROM added
)
INSERT INTO glasshouse.inboxes (house) SELECT number FROM added;

-- name: rename_house
UPDATE glasshouse.houses SET name = $2 WHERE name = $1 AND owner = '' RETURNING number;

-- name: take
WITH taken AS (
    UPDATE glasshouse.houses SET epoch = epoch + 1, token = $4, owner = $5, owner_words = $6, format = $7
    WHERE number = $1 AND epoch = $2 AND token = $3 AND format <= $7 AND (SELECT beat FROM glasshouse.beats WHERE house = $1) = $8
    RETURNING number, epoch
), beaten AS (
    UPDATE glasshouse.beats SET beat = beat + 1, at = clock_timestamp() FROM taken WHERE house = taken.number
)
SELECT epoch FROM taken;

-- name: end_connections
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid();

-- name: end_connection
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2;

-- name: change_token
UPDATE glasshouse.houses SET token = $4 WHERE number = $1 AND epoch = $2 AND token = ANY ($3::bytea[]) RETURNING number;

-- name: let_go
UPDATE glasshouse.houses SET owner = '', owner_words = '' WHERE number = $1 AND epoch = $2 AND token = ANY ($3::bytea[]);

-- name: announce
UPDATE glasshouse.houses SET owner_words = $4 WHERE number = $1 AND epoch = $2 AND token = ANY ($3::bytea[]);

-- name: beat
WITH mine AS (
    SELECT h.number FROM unnest($1::int[], $2::bigint[]) AS mine (number, epoch)
    JOIN glasshouse.houses h ON h.number = mine.number AND h.epoch = mine.epoch AND h.owner = $3
), beaten AS (
    UPDATE glasshouse.beats SET beat = beat + 1, at = clock_timestamp() FROM mine WHERE house = mine.number RETURNING house
)
SELECT clock_timestamp(), coalesce(array_agg(house), '{}') FROM beaten;

-- name: drop_snapshots_of_older_folds
DELETE FROM glasshouse.snapshots s WHERE s.house = $1 AND NOT EXISTS (
    SELECT FROM (
        SELECT key FROM glasshouse.snapshots o WHERE o.house = s.house AND o.scope = s.scope AND o.name = s.name
        GROUP BY key ORDER BY max(at) DESC, key LIMIT $2
    ) newest WHERE newest.key = s.key
);

-- A wake is a hint: its transaction need not wait for the disk.
-- name: notify
SELECT pg_notify(channel, '') FROM unnest($1::text[]) AS channel, set_config('synchronous_commit', 'off', true);

-- name: now
SELECT clock_timestamp();

-- name: position
SELECT coalesce(max(position), 0) FROM glasshouse.events WHERE house = $1;

-- name: epoch_at
SELECT epoch FROM glasshouse.events WHERE house = $1 AND position = $2;

-- name: last_segment_number
SELECT coalesce(max(number), 0) FROM glasshouse.segments WHERE house = $1;

-- name: segment
SELECT number, id, graph_id, origin, ordinal, base, parents, uptos, at, is_imported, is_redacted,
    (SELECT coalesce(max(seq), 0) FROM glasshouse.events e WHERE e.house = $1 AND e.segment = s.number) AS head
FROM glasshouse.segments s WHERE house = $1 AND id = $2;

-- name: segments_after
SELECT number, id, graph_id, origin, ordinal, base, parents, uptos, at, is_imported, is_redacted
FROM glasshouse.segments WHERE house = $1 AND opened_at > $2 ORDER BY number;

-- name: events_after
SELECT position, position - in_change, body FROM glasshouse.events WHERE house = $1 AND position > $2 ORDER BY position LIMIT $3;

-- name: events_at
SELECT position, position - in_change, body FROM glasshouse.events WHERE house = $1 AND position = ANY ($2::bigint[]) ORDER BY position;

-- name: events_of_spans
SELECT span.n, e.position, e.change, e.body
FROM unnest($2::bytea[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS span (id, first, last, n)
CROSS JOIN LATERAL (SELECT number FROM glasshouse.segments s WHERE s.house = $1 AND s.id = span.id OFFSET 0) s
CROSS JOIN LATERAL (
    SELECT position, position - in_change AS change, body FROM glasshouse.events
    WHERE house = $1 AND segment = s.number AND seq BETWEEN span.first AND span.last ORDER BY seq OFFSET 0
) e
ORDER BY span.n, e.position;

-- name: snapshot
SELECT scope, name, key, at, body FROM glasshouse.snapshots
WHERE house = $1 AND scope = $2 AND name = $3 AND key = $4 AND at <= coalesce($5, at) ORDER BY at DESC LIMIT 1;

-- name: prompt
SELECT body FROM glasshouse.prompts WHERE house = $1 AND digest = $2;

-- name: shown
SELECT body FROM glasshouse.shown WHERE house = $1 AND position = $2;

-- name: requests
SELECT change, body FROM glasshouse.requests WHERE house = $1 AND change BETWEEN $2 AND $3;

-- name: labels
SELECT run_id, body FROM glasshouse.labels WHERE house = $1 ORDER BY run_id;

-- name: records
SELECT name, body FROM glasshouse.records WHERE house = $1 ORDER BY name;

-- name: indexed
SELECT upto FROM glasshouse.memory_index WHERE house = $1;

-- name: indexed_places
SELECT place, first, last FROM glasshouse.memory_places WHERE house = $1;

-- name: index_lines
WITH held AS MATERIALIZED (
    SELECT number FROM glasshouse.houses WHERE number = $1 AND epoch = $2 AND token = $3 FOR NO KEY UPDATE
), moved AS (
    INSERT INTO glasshouse.memory_index (house, upto) SELECT number, $5::bigint FROM held
    WHERE $4::bigint = coalesce((SELECT upto FROM glasshouse.memory_index WHERE house = $1), 0)
    ON CONFLICT (house) DO UPDATE SET upto = excluded.upto WHERE memory_index.upto = $4 RETURNING house
), placed AS (
    INSERT INTO glasshouse.memory_places (house, place, first, last)
    SELECT moved.house, row.place, row.first, row.last
    FROM moved CROSS JOIN unnest($6::bytea[], $7::bigint[], $8::bigint[]) AS row (place, first, last)
    ON CONFLICT (house, place) DO UPDATE SET first = least(memory_places.first, excluded.first), last = greatest(memory_places.last, excluded.last)
    RETURNING number, place
)
INSERT INTO glasshouse.memory_words (place, word, lamport, position)
SELECT placed.number, row.word, row.lamport, row.position
FROM unnest($9::bytea[], $10::bytea[], $11::bigint[], $12::bigint[]) AS row (place, word, lamport, position)
JOIN placed ON placed.place = row.place
ON CONFLICT DO NOTHING;

-- name: lines_with
SELECT word, lamport, position FROM (
    SELECT DISTINCT asked.n, asked.word, found.lamport, found.position,
        dense_rank() OVER (PARTITION BY asked.n ORDER BY found.lamport DESC, found.position DESC) AS rank
    FROM unnest($2::bytea[]) WITH ORDINALITY AS asked (word, n)
    CROSS JOIN unnest($3::bytea[], $4::bigint[], $5::bigint[]) AS span (place, first, last)
    CROSS JOIN LATERAL (SELECT number FROM glasshouse.memory_places p WHERE p.house = $1 AND p.place = span.place OFFSET 0) p
    CROSS JOIN LATERAL (
        SELECT lamport, position FROM glasshouse.memory_words w
        WHERE w.place = p.number AND w.word = asked.word AND w.lamport BETWEEN span.first AND span.last
        ORDER BY lamport DESC, position DESC LIMIT $6
    ) found
) ranked WHERE rank <= $6 ORDER BY n, lamport DESC, position DESC;

-- name: drop_index
WITH held AS MATERIALIZED (
    SELECT number FROM glasshouse.houses WHERE number = $1 AND epoch = $2 AND token = $3 FOR NO KEY UPDATE
), dropped AS (
    DELETE FROM glasshouse.memory_index i USING held WHERE i.house = held.number
), dropped_words AS (
    DELETE FROM glasshouse.memory_words w USING glasshouse.memory_places p, held WHERE p.house = held.number AND w.place = p.number
)
DELETE FROM glasshouse.memory_places p USING held WHERE p.house = held.number;

-- name: put_line
WITH numbered AS (
    UPDATE glasshouse.inboxes SET numbers = numbers + 1, keys = (keys || $2::bytea)[greatest(cardinality(keys) - 62, 1):]
    WHERE house = $1 AND NOT $2 = ANY (keys) RETURNING house, numbers
)
INSERT INTO glasshouse.inbox_lines (house, number, run_id, text) SELECT house, numbers, $3, $4 FROM numbered RETURNING number;

-- name: put_request
WITH numbered AS (
    UPDATE glasshouse.inboxes SET numbers = numbers + 1, keys = (keys || $2::bytea)[greatest(cardinality(keys) - 62, 1):]
    WHERE house = $1 AND NOT $2 = ANY (keys) RETURNING house, numbers
)
INSERT INTO glasshouse.inbox_requests (house, number, body) SELECT house, numbers, $3 FROM numbered RETURNING number;

-- name: last_number
SELECT numbers FROM glasshouse.inboxes WHERE house = $1;

-- name: inbox_lines
SELECT number, run_id, text FROM glasshouse.inbox_lines WHERE house = $1 AND number > $2 ORDER BY number LIMIT $3;

-- name: open_requests
SELECT number, body, is_taken, answer FROM glasshouse.inbox_requests
WHERE house = $1 AND answer IS NULL ORDER BY number LIMIT $2;

-- name: inbox_request
SELECT number, body, is_taken, answer FROM glasshouse.inbox_requests WHERE house = $1 AND number = $2;

-- name: inbox_mark
SELECT concat_ws(' ', (SELECT numbers FROM glasshouse.inboxes WHERE house = $1),
    (SELECT count(*) FROM glasshouse.inbox_lines WHERE house = $1),
    count(*), count(*) FILTER (WHERE is_taken), count(answer)) FROM glasshouse.inbox_requests WHERE house = $1;

-- name: take_request
WITH held AS MATERIALIZED (
    SELECT number FROM glasshouse.houses WHERE number = $1 AND epoch = $2 AND token = $3 FOR NO KEY UPDATE
), taken AS (
    UPDATE glasshouse.inbox_requests r SET is_taken = true FROM held WHERE r.house = held.number AND r.number = $4 RETURNING r.number
)
SELECT (SELECT count(*) FROM held), (SELECT count(*) FROM taken);

-- name: withdraw_request
DELETE FROM glasshouse.inbox_requests WHERE house = $1 AND number = $2 AND NOT is_taken RETURNING number;

-- The parts of a commit. It locks the row of the house, if epoch and token are still those of this owner, and writes nothing if not.

-- name: commit_held
WITH held AS MATERIALIZED (
    SELECT number, epoch FROM glasshouse.houses WHERE number = :1 AND epoch = :2 AND token = :3 FOR NO KEY UPDATE
)

-- name: commit_events
, added_events AS (
    INSERT INTO glasshouse.events (house, position, segment, seq, in_change, epoch, body)
    SELECT held.number, :1::bigint + row.n, row.segment, row.seq, row.in_change, held.epoch, row.body
    FROM held CROSS JOIN unnest(:2::int[], :3::int[], :4::int[], :5::bytea[]) WITH ORDINALITY AS row (segment, seq, in_change, body, n)
)

-- name: commit_segments
, added_segments AS (
    INSERT INTO glasshouse.segments (house, number, id, graph_id, origin, ordinal, base, parents, uptos, at, is_imported, is_redacted, opened_at)
    SELECT held.number, row.number, row.id, row.graph_id, row.origin, row.ordinal, row.base,
        (:11::bytea[])[row.parents_from : row.parents_to], (:12::bigint[])[row.parents_from : row.parents_to],
        row.at, row.is_imported, row.is_redacted, row.opened_at
    FROM held CROSS JOIN unnest(:1::int[], :2::bytea[], :3::bytea[], :4::text[], :5::bigint[], :6::bigint[], :7::bytea[], :8::boolean[], :9::boolean[],
        :10::bigint[], :13::int[], :14::int[])
    AS row (number, id, graph_id, origin, ordinal, base, at, is_imported, is_redacted, opened_at, parents_from, parents_to)
)

-- name: commit_prompts
, kept_prompts AS (
    INSERT INTO glasshouse.prompts (house, digest, body)
    SELECT held.number, row.digest, row.body FROM held CROSS JOIN unnest(:1::bytea[], :2::bytea[]) AS row (digest, body)
    ON CONFLICT DO NOTHING
)

-- name: commit_shown
, kept_shown AS (
    INSERT INTO glasshouse.shown (house, position, body)
    SELECT held.number, row.position, row.body FROM held CROSS JOIN unnest(:1::bigint[], :2::bytea[]) AS row (position, body)
    ON CONFLICT DO NOTHING
)

-- name: commit_requests
, kept_requests AS (
    INSERT INTO glasshouse.requests (house, change, body)
    SELECT held.number, row.change, row.body FROM held CROSS JOIN unnest(:1::bigint[], :2::bytea[]) AS row (change, body)
)

-- name: commit_labels
, kept_labels AS (
    INSERT INTO glasshouse.labels (house, run_id, body)
    SELECT held.number, row.run_id, row.body FROM held CROSS JOIN unnest(:1::bytea[], :2::bytea[]) AS row (run_id, body)
    ON CONFLICT (house, run_id) DO UPDATE SET body = excluded.body
)

-- name: commit_records
, kept_records AS (
    INSERT INTO glasshouse.records (house, name, body)
    SELECT held.number, row.name, row.body FROM held CROSS JOIN unnest(:1::bytea[], :2::bytea[]) AS row (name, body)
    ON CONFLICT (house, name) DO UPDATE SET body = excluded.body
)

-- name: commit_snapshots
, kept_snapshots AS (
    INSERT INTO glasshouse.snapshots (house, scope, name, key, at, body)
    SELECT held.number, row.scope, row.name, row.key, row.at, row.body
    FROM held CROSS JOIN unnest(:1::bytea[], :2::bytea[], :3::bytea[], :4::bigint[], :5::bytea[]) AS row (scope, name, key, at, body)
    ON CONFLICT (house, scope, name, key, at) DO UPDATE SET body = excluded.body
)

-- name: commit_done
, done_lines AS (
    DELETE FROM glasshouse.inbox_lines l USING held WHERE l.house = held.number AND l.number = ANY (:1::bigint[])
)

-- name: commit_answers
, answered AS (
    UPDATE glasshouse.inbox_requests r SET answer = row.answer
    FROM held CROSS JOIN unnest(:1::bigint[], :2::bytea[]) AS row (number, answer)
    WHERE r.house = held.number AND r.number = row.number AND r.answer IS NULL
), dropped AS (
    DELETE FROM glasshouse.inbox_requests r USING held
    WHERE r.house = held.number AND r.number <= :3 AND r.answer IS NOT NULL
)

-- name: commit_end
SELECT number FROM held

-- One event and nothing else is the most frequent commit, and has a statement that costs the server less.
-- name: commit_one_event
WITH held AS MATERIALIZED (
    SELECT number, epoch FROM glasshouse.houses WHERE number = $1 AND epoch = $2 AND token = $3 FOR NO KEY UPDATE
)
INSERT INTO glasshouse.events (house, position, segment, seq, in_change, epoch, body)
SELECT number, $4::bigint, $5::int, $6::int, 0, epoch, $7::bytea FROM held RETURNING house;
