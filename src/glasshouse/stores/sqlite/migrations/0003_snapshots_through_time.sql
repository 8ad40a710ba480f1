-- Snapshots are kept through time, so that the world of any moment is near one; compressed. They are a cache: the old
-- ones are let go, and made again as the ledger grows.
DROP TABLE snapshots;
CREATE TABLE snapshots (
    scope TEXT    NOT NULL,
    name  TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    body  BLOB    NOT NULL,
    PRIMARY KEY (scope, name, at)
);
