-- Events in columns, so that what repeats is kept once (ADR 0111). `conversion.py` moves the rows of `whole_events` into
-- `events`, then drops it.
DROP INDEX events_by_segment;
ALTER TABLE events RENAME TO whole_events;

-- What many events share. The same names may have several numbers.
CREATE TABLE shapes (
    number     INTEGER PRIMARY KEY,
    actor      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    run_id     TEXT,
    channel_id TEXT,
    channel    TEXT
);

CREATE TABLE events (
    position  INTEGER PRIMARY KEY,
    segment   INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    in_change INTEGER NOT NULL,       -- its position less that of the first event of its change
    shape     INTEGER,                -- NULL: `rest` is the whole event
    turn      INTEGER,
    at        INTEGER,                -- microseconds since the beginning of 1970, UTC
    payload   TEXT,                   -- JSON
    rest      TEXT    NOT NULL,       -- the other fields as JSON; empty if there are none
    -- The one place that says how long an epoch is: 2^12 = 4,096 positions. It is never stored but in the index.
    epoch     INTEGER GENERATED ALWAYS AS (position >> 12) VIRTUAL
);

-- See 0001: the epoch comes first, so that a commit dirties the few pages at the index's end.
CREATE UNIQUE INDEX events_by_segment ON events (epoch, segment, seq);
