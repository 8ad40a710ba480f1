-- Changes of the graph that other processes ask for, and the answers (ADR 0058). Besides `inbox`, the only table that
-- another process may write.
CREATE TABLE inbox_requests (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    body     TEXT    NOT NULL,            -- JSON: see world/decisions/requests.py
    is_taken INTEGER NOT NULL DEFAULT 0,  -- whether a terrarium has begun to decide it
    answer   TEXT                         -- JSON, written in the same commit as the change
);
