-- Every key begins with the house. Texts are bytes: a text of PostgreSQL cannot hold a NUL, and ours may.

-- A house: one ledger with one owner. Only who takes a house, or looks up a commit in doubt, changes its row. A commit locks it and
-- leaves it as it is.
CREATE TABLE houses (
    number      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text    NOT NULL UNIQUE,
    id          bytea   NOT NULL,             -- what the house got when it was first opened
    format      integer NOT NULL,             -- the newest format that an owner has written: an older program may not take the house
    epoch       bigint  NOT NULL DEFAULT 0,   -- grows with every owner
    token       bytea   NOT NULL DEFAULT '',  -- random: after a failover, two owners may hold one epoch
    owner       text    NOT NULL DEFAULT '',  -- the application_name of the owner's connections; empty: nobody
    owner_words text    NOT NULL DEFAULT ''   -- who that is, for messages
);

-- That an owner is alive. Apart from `houses`, so that neither a beat nor a commit waits for the other.
CREATE TABLE beats (
    house integer     PRIMARY KEY,
    beat  bigint      NOT NULL DEFAULT 0,
    at    timestamptz NOT NULL DEFAULT clock_timestamp()  -- for messages only: no clock decides who owns a house
) WITH (fillfactor = 50);

CREATE TABLE segments (
    house        integer  NOT NULL,
    number       integer  NOT NULL,
    id           bytea    NOT NULL,
    graph_id     bytea    NOT NULL,
    origin       text     NOT NULL,
    ordinal      bigint   NOT NULL,
    base         bigint   NOT NULL,
    parents      bytea[]  NOT NULL,
    uptos        bigint[] NOT NULL,           -- for each parent, the last seq that the segment sees
    at           bytea,
    is_imported  boolean  NOT NULL,
    is_redacted  boolean  NOT NULL,
    opened_at    bigint   NOT NULL,           -- the position of its first event
    PRIMARY KEY (house, number),
    UNIQUE (house, id)
);

CREATE TABLE events (
    position  bigint  NOT NULL,
    house     integer NOT NULL,
    segment   integer NOT NULL,
    seq       integer NOT NULL,
    in_change integer NOT NULL,               -- its position less that of the first event of its change
    epoch     integer NOT NULL,               -- of the owner that wrote it
    body      bytea   NOT NULL,               -- JSON: the whole event
    PRIMARY KEY (house, position),
    UNIQUE (house, segment, seq)
);

-- What somebody outside asked for, by the number of the change that came of it. A replay asks for it again.
CREATE TABLE requests (
    house  integer NOT NULL,
    change bigint  NOT NULL,
    body   bytea   NOT NULL,
    PRIMARY KEY (house, change)
);

CREATE TABLE labels (
    house  integer NOT NULL,
    run_id bytea   NOT NULL,
    body   bytea   NOT NULL,                  -- JSON: a list of texts
    PRIMARY KEY (house, run_id)
);

CREATE TABLE records (
    house integer NOT NULL,
    name  bytea   NOT NULL,
    body  bytea   NOT NULL,
    PRIMARY KEY (house, name)
);

-- Side tables: the ledger is whole without them, and they may be emptied.
CREATE TABLE prompts (
    house  integer NOT NULL,
    digest bytea   NOT NULL,
    body   bytea   NOT NULL,
    PRIMARY KEY (house, digest)
);

CREATE TABLE shown (
    house    integer NOT NULL,
    position bigint  NOT NULL,
    body     bytea   NOT NULL,                -- see events/shown.py
    PRIMARY KEY (house, position)
);

-- Caches. Snapshots of two versions stand side by side: an owner and its followers may run different versions.
CREATE TABLE snapshots (
    house integer NOT NULL,
    scope bytea   NOT NULL,
    name  bytea   NOT NULL,
    key   bytea   NOT NULL,
    at    bigint  NOT NULL,
    body  bytea   NOT NULL,
    PRIMARY KEY (house, scope, name, key, at)
);

-- The inbox: what a follower may write. Numbers count within a house, for lines and requests together.
CREATE TABLE inboxes (
    house   integer PRIMARY KEY,
    numbers bigint  NOT NULL DEFAULT 0,       -- the last number that was given
    keys    bytea[] NOT NULL DEFAULT '{}'     -- of the last that were put: who repeats one whose answer was lost leaves it once
);

CREATE TABLE inbox_lines (
    house  integer NOT NULL,
    number bigint  NOT NULL,
    run_id bytea,
    text   bytea   NOT NULL,
    PRIMARY KEY (house, number)
);

CREATE TABLE inbox_requests (
    house    integer     NOT NULL,
    number   bigint      NOT NULL,
    body     bytea       NOT NULL,
    is_taken boolean     NOT NULL DEFAULT false,
    answer   bytea,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (house, number)
);
CREATE INDEX inbox_requests_open ON inbox_requests (house, number) WHERE answer IS NULL;
