-- name: house_id
SELECT value FROM house WHERE key = 'id';

-- name: give_house_id
INSERT INTO house (key, value) VALUES ('id', ?);

-- name: last_position
SELECT coalesce(max(position), 0) FROM events;

-- name: last_segment_number
SELECT coalesce(max(number), 0) FROM segments;

-- name: segment_number
SELECT number FROM segments WHERE id = ?;

-- name: segment_head
SELECT coalesce(max(seq), 0) FROM events WHERE segment = ?;

-- name: add_segment
INSERT INTO segments (number, id, graph_id, origin, ordinal, base, at, is_imported, is_redacted, opened_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_parent
INSERT INTO parents (child, ordinal, parent, upto) VALUES (?, ?, ?, ?);

-- name: add_event
INSERT INTO events (position, segment, seq, is_inner, body) VALUES (?, ?, ?, ?, ?);

-- name: keep_snapshot
INSERT OR REPLACE INTO snapshots (scope, name, key, at, body) VALUES (?, ?, ?, ?, ?);

-- name: snapshot
SELECT scope, name, key, at, body FROM snapshots WHERE scope = ? AND name = ? AND key = ?;

-- name: events_of_segment
SELECT position, body FROM events
WHERE segment = (SELECT number FROM segments WHERE id = ?) AND seq BETWEEN ? AND ?
ORDER BY seq;

-- name: events_after
SELECT position, body FROM events WHERE position > ? ORDER BY position LIMIT ?;

-- name: segments_after
SELECT number, id, graph_id, origin, ordinal, base, at, is_imported, is_redacted FROM segments WHERE opened_at > ? ORDER BY number;

-- name: parents_of
SELECT parent, upto FROM parents WHERE child = ? ORDER BY ordinal;

-- name: batch_end
SELECT seq FROM events
WHERE segment = (SELECT number FROM segments WHERE id = ?) AND seq >= ? AND is_inner = 0
ORDER BY seq LIMIT 1;

-- name: inner_seqs
SELECT seq FROM events
WHERE segment = (SELECT number FROM segments WHERE id = ?) AND seq <= ? AND is_inner = 1
ORDER BY seq;

-- name: put_in_inbox
INSERT INTO inbox (run_id, text) VALUES (?, ?) RETURNING number;

-- name: read_inbox
SELECT number, run_id, text FROM inbox ORDER BY number LIMIT ?;

-- name: drop_from_inbox
DELETE FROM inbox WHERE number = ?;
