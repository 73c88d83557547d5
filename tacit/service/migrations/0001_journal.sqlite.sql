-- Agents, their events and their snapshots. A name is that of one agent among those that were not deleted.
CREATE TABLE agents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    description BLOB NOT NULL,
    created REAL NOT NULL,
    deleted REAL
) STRICT;
CREATE UNIQUE INDEX agents_by_name ON agents (name) WHERE deleted IS NULL;

CREATE TABLE events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    agent INTEGER NOT NULL REFERENCES agents (number),
    episode TEXT,
    kind TEXT NOT NULL,
    body BLOB NOT NULL,
    at REAL NOT NULL
) STRICT;
-- Every index ends with the position, which is the row's own number: these are (agent, position) and
-- (agent, episode, position).
CREATE INDEX events_by_agent ON events (agent);
CREATE INDEX events_by_episode ON events (agent, episode) WHERE episode IS NOT NULL;

CREATE TABLE snapshots (
    agent INTEGER NOT NULL REFERENCES agents (number),
    position INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (agent, position)
) STRICT;

-- One row, written to find out whether anything can be written.
CREATE TABLE pulse (number INTEGER PRIMARY KEY CHECK (number = 1), at REAL NOT NULL) STRICT;
