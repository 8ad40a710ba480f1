-- The ledger. Events lie in the order of their commits; the index finds them by segment, epoch by epoch.
-- Bodies are JSON as it was first written, and are never rewritten. What its columns and its segment say of an event
-- (id, session_id, graph_id, seq, lamport) is left out of its body, and put back when it is read.

CREATE TABLE house (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE segments (
    number      INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    graph_id    TEXT    NOT NULL,
    origin      TEXT    NOT NULL,
    ordinal     INTEGER NOT NULL,
    base        INTEGER NOT NULL,
    at          TEXT,
    is_imported INTEGER NOT NULL,
    is_redacted INTEGER NOT NULL,
    opened_at   INTEGER NOT NULL      -- the position of its first event
);

CREATE TABLE parents (
    child   INTEGER NOT NULL REFERENCES segments (number),
    ordinal INTEGER NOT NULL,
    parent  TEXT    NOT NULL,
    upto    INTEGER NOT NULL,         -- the last seq of the parent that the child sees
    PRIMARY KEY (child, ordinal)
) WITHOUT ROWID;

CREATE TABLE events (
    position  INTEGER PRIMARY KEY,
    segment   INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    in_change INTEGER NOT NULL,       -- its position less that of the first event of its change
    body      TEXT    NOT NULL,
    -- The one place that says how long an epoch is: 2^12 = 4,096 positions. It is never stored but in the index.
    epoch     INTEGER GENERATED ALWAYS AS (position >> 12) VIRTUAL
);

-- The epoch comes first, so that a commit which spreads over many segments dirties the few pages at the index's end,
-- and not one page for each segment. A segment is read epoch by epoch.
CREATE UNIQUE INDEX events_by_segment ON events (epoch, segment, seq);

-- Caches: the folded world, kept at many moments so that a snapshot is near any of them. May be deleted at any time.
CREATE TABLE snapshots (
    scope TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    body  BLOB    NOT NULL,
    PRIMARY KEY (scope, name, at)
);

-- The one table that another process may write.
CREATE TABLE inbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT,
    text   TEXT NOT NULL
);

-- What somebody outside asked for, by the number of the change that came of it. A replay asks for it again.
CREATE TABLE requests (
    change INTEGER PRIMARY KEY,
    body   TEXT    NOT NULL
);

-- Prompt texts by their digest; long ones are compressed blobs. A side table: the ledger is whole without it, and it may be
-- emptied. Digests come in no order, so only the small index is ordered by them: a commit dirties few pages of texts, and
-- those are full.
CREATE TABLE prompts (
    digest TEXT PRIMARY KEY,
    body   BLOB NOT NULL
);

-- The ids of the lines that the model calls behind an event were shown. A side table like `prompts`: it may be emptied.
CREATE TABLE shown (
    position INTEGER PRIMARY KEY,     -- of the event
    body     TEXT NOT NULL            -- see events/shown.py
);
