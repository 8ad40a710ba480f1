-- Three roles, to be granted to people and programs: GRANT glasshouse_follower TO mary. An owner plays, a follower reads and leaves lines
-- and requests, a reader reads. Roles belong to the whole server, so they are made once; the grants hold in this database.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['glasshouse_owner', 'glasshouse_follower', 'glasshouse_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- Another database of this server made it at the same moment.
            END;
        END IF;
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA glasshouse TO glasshouse_owner, glasshouse_follower, glasshouse_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA glasshouse TO glasshouse_owner, glasshouse_follower, glasshouse_reader;
GRANT INSERT, DELETE ON inbox_lines, inbox_requests TO glasshouse_follower;
GRANT UPDATE (numbers, keys) ON inboxes TO glasshouse_follower;
GRANT INSERT, UPDATE, DELETE ON houses, beats, labels, records, prompts, shown, snapshots, inboxes, inbox_lines, inbox_requests,
    memory_index, memory_places, memory_words TO glasshouse_owner;
GRANT INSERT ON segments, events, requests TO glasshouse_owner;
