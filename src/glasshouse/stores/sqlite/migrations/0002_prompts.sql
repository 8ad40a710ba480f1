-- Prompt texts by their digest, compressed. A side table: the ledger is whole without it, and it may be emptied.
CREATE TABLE prompts (
    digest TEXT PRIMARY KEY,
    body   BLOB NOT NULL
) WITHOUT ROWID;
