-- The index of words: a cache, empty until a creature searches its memory. It may be emptied at any time, all three tables together.
CREATE TABLE memory_index (
    house integer PRIMARY KEY,
    upto  bigint NOT NULL                     -- the position up to which all lines are in it
);

CREATE TABLE memory_places (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    house  integer NOT NULL,
    place  bytea   NOT NULL,
    first  bigint  NOT NULL,                  -- the lamport times of its first and its last line
    last   bigint  NOT NULL,
    UNIQUE (house, place)
);

CREATE TABLE memory_words (
    place    integer NOT NULL,                -- a number of memory_places, which also says the house
    word     bytea   NOT NULL,
    lamport  bigint  NOT NULL,
    position bigint  NOT NULL,
    PRIMARY KEY (place, word, lamport, position)
);
