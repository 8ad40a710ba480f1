-- The events of a segment are found epoch by epoch (ADR 0020). Seqs have no gaps and grow with the position, so seq n
-- is at position `opened_at + n - 1` or later. The search begins there and goes upwards. It visits the epochs in order,
-- and the index in order within each epoch, so the rows come in the order of seqs without an ORDER BY. An ORDER BY would
-- collect all epochs first, and then the LIMIT could not stop the search at the last row that is needed.

-- name: house_id
SELECT value FROM house WHERE key = 'id';

-- name: give_house_id
INSERT INTO house (key, value) VALUES ('id', ?);

-- name: keep_in_house
INSERT OR REPLACE INTO house (key, value) VALUES (?, ?);

-- name: kept_in_house
SELECT key, value FROM house WHERE key BETWEEN ? AND ?;

-- name: last_position
SELECT coalesce(max(position), 0) FROM events;

-- name: last_segment_number
SELECT coalesce(max(number), 0) FROM segments;

-- name: segment_number
SELECT number, graph_id, base FROM segments WHERE id = ?;

-- name: segment_head
WITH RECURSIVE
bounds (newest, oldest) AS (
    SELECT
        (SELECT epoch FROM events ORDER BY position DESC LIMIT 1),
        (SELECT epoch FROM events WHERE position >= (SELECT opened_at FROM segments WHERE number = ?1) ORDER BY position LIMIT 1)
),
walk (epoch, oldest, head) AS (
    SELECT newest + 1, oldest, NULL FROM bounds
    UNION ALL
    SELECT
        epoch - 1,
        oldest,
        (SELECT max(seq) FROM events INDEXED BY events_by_segment WHERE events.epoch = walk.epoch - 1 AND segment = ?1)
    FROM walk WHERE head IS NULL AND epoch > oldest
)
SELECT coalesce(max(head), 0) FROM walk;

-- name: add_segment
INSERT INTO segments (number, id, graph_id, origin, ordinal, base, at, is_imported, is_redacted, opened_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_parent
INSERT INTO parents (child, ordinal, parent, upto) VALUES (?, ?, ?, ?);

-- name: add_event
INSERT INTO events (position, segment, seq, in_change, shape, turn, at, payload, rest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: add_shape
INSERT INTO shapes (number, actor, kind, run_id, channel_id, channel) VALUES (?, ?, ?, ?, ?, ?);

-- name: shape
SELECT actor, kind, run_id, channel_id, channel FROM shapes WHERE number = ?;

-- name: last_shape_number
SELECT coalesce(max(number), 0) FROM shapes;

-- name: file_version
PRAGMA user_version;

-- name: drop_snapshots_of_other_folds
DELETE FROM snapshots WHERE scope = ? AND name = ? AND key <> ?;

-- name: keep_snapshot
INSERT OR REPLACE INTO snapshots (scope, name, key, at, body) VALUES (?, ?, ?, ?, ?);

-- name: snapshot
SELECT scope, name, key, at, body FROM snapshots
WHERE scope = ?1 AND name = ?2 AND key = ?3 AND at <= coalesce(?4, at) ORDER BY at DESC LIMIT 1;

-- name: events_of_segment
WITH RECURSIVE walk (segment, graph_id, base, epoch, newest) AS (
    SELECT
        number,
        graph_id,
        base,
        (SELECT epoch FROM events WHERE position >= opened_at + max(?2, 1) - 1 ORDER BY position LIMIT 1),
        (SELECT epoch FROM events ORDER BY position DESC LIMIT 1)
    FROM segments WHERE id = ?1
    UNION ALL
    SELECT segment, graph_id, base, epoch + 1, newest FROM walk WHERE epoch < newest
)
SELECT position, position - in_change, seq, shape, turn, at, payload, rest, graph_id, base FROM walk CROSS JOIN events INDEXED BY events_by_segment
WHERE events.epoch = walk.epoch AND events.segment = walk.segment AND seq BETWEEN ?2 AND ?3
LIMIT max(?3 - max(?2, 1) + 1, 0);

-- name: events_after
SELECT position, position - in_change, seq, shape, turn, at, payload, rest, segment FROM events WHERE position > ? ORDER BY position LIMIT ?;

-- name: segments_after
SELECT number, id, graph_id, origin, ordinal, base, at, is_imported, is_redacted FROM segments WHERE opened_at > ? ORDER BY number;

-- name: segment_place
SELECT id, graph_id, base FROM segments WHERE number = ?;

-- name: segment_of_number
SELECT number, id, graph_id, origin, ordinal, base, at, is_imported, is_redacted FROM segments WHERE number = ?;

-- name: parents_of
SELECT parent, upto FROM parents WHERE child = ? ORDER BY ordinal;

-- name: put_line
INSERT INTO inbox (run_id, text) VALUES (?, ?) RETURNING number;

-- name: inbox_lines
SELECT number, run_id, text FROM inbox WHERE number > ? ORDER BY number LIMIT ?;

-- name: drop_from_inbox
DELETE FROM inbox WHERE number = ?;

-- name: put_request
INSERT INTO inbox_requests (body) VALUES (?) RETURNING number;

-- name: open_requests
SELECT number, body, is_taken, answer FROM inbox_requests WHERE answer IS NULL ORDER BY number LIMIT ?;

-- name: inbox_request
SELECT number, body, is_taken, answer FROM inbox_requests WHERE number = ?;

-- name: inbox_mark
SELECT (SELECT group_concat(seq) FROM sqlite_sequence WHERE name IN ('inbox', 'inbox_requests')),
    (SELECT count(*) FROM inbox), count(*), sum(is_taken), count(answer) FROM inbox_requests;

-- name: take_request
UPDATE inbox_requests SET is_taken = 1 WHERE number = ? RETURNING number;

-- name: withdraw_request
DELETE FROM inbox_requests WHERE number = ? AND is_taken = 0 RETURNING number;

-- name: answer_request
UPDATE inbox_requests SET answer = ? WHERE number = ? AND answer IS NULL;

-- name: drop_old_answers
DELETE FROM inbox_requests WHERE number <= ? AND answer IS NOT NULL;

-- name: keep_prompt
INSERT OR IGNORE INTO prompts (digest, body) VALUES (?, ?);

-- name: prompt
SELECT body FROM prompts WHERE digest = ?;

-- name: keep_request
INSERT INTO requests (change, body) VALUES (?, ?);

-- name: requests
SELECT change, body FROM requests WHERE change BETWEEN ? AND ?;

-- name: keep_shown
INSERT OR REPLACE INTO shown (position, body) VALUES (?, ?);

-- name: shown
SELECT body FROM shown WHERE position = ?;

-- The index of words is made when somebody first searches, and dropped as a whole. Its rows are in the order in which they are searched.
-- name: has_index
SELECT count(*) FROM sqlite_schema WHERE name = 'memory_index';

-- name: make_index
CREATE TABLE memory_index (upto INTEGER NOT NULL);

-- name: make_index_places
CREATE TABLE memory_places (number INTEGER PRIMARY KEY, place TEXT NOT NULL UNIQUE, first INTEGER NOT NULL, last INTEGER NOT NULL);

-- name: make_index_words
CREATE TABLE memory_words (
    place INTEGER NOT NULL, word TEXT NOT NULL, lamport INTEGER NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (place, word, lamport, position)
) WITHOUT ROWID;

-- name: begin_index
INSERT INTO memory_index (upto) VALUES (0);

-- name: drop_index
DROP TABLE IF EXISTS memory_index;

-- name: drop_index_places
DROP TABLE IF EXISTS memory_places;

-- name: drop_index_words
DROP TABLE IF EXISTS memory_words;

-- name: indexed
SELECT upto FROM memory_index;

-- name: note_indexed
UPDATE memory_index SET upto = ?;

-- name: indexed_places
SELECT place, first, last FROM memory_places;

-- name: index_place
INSERT INTO memory_places (place, first, last) VALUES (?1, ?2, ?3)
ON CONFLICT (place) DO UPDATE SET first = min(first, ?2), last = max(last, ?3) RETURNING number;

-- name: number_of_place
SELECT number FROM memory_places WHERE place = ?;

-- name: index_word
INSERT OR IGNORE INTO memory_words (place, word, lamport, position) VALUES (?, ?, ?, ?);

-- name: lines_with
SELECT lamport, position FROM memory_words WHERE place = ? AND word = ? AND lamport BETWEEN ? AND ?
ORDER BY lamport DESC, position DESC LIMIT ?;
