-- Agents, their events and their snapshots. A name is that of one agent among those that were not deleted.
CREATE TABLE agents (
    number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    description BYTEA NOT NULL,
    created DOUBLE PRECISION NOT NULL,
    deleted DOUBLE PRECISION
);
CREATE UNIQUE INDEX agents_by_name ON agents (name) WHERE deleted IS NULL;

-- Positions are drawn by the program from their sequence, once it holds the locks of the agents.
CREATE SEQUENCE positions AS BIGINT;
CREATE TABLE events (
    position BIGINT PRIMARY KEY,
    agent BIGINT NOT NULL REFERENCES agents (number),
    episode TEXT COLLATE "C",
    kind TEXT NOT NULL,
    body BYTEA NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    batch UUID
);
-- The first event of each group that was appended at once has the group's number, by which it is found.
CREATE UNIQUE INDEX events_by_batch ON events (batch) WHERE batch IS NOT NULL;
CREATE INDEX events_by_agent ON events (agent, position);
CREATE INDEX events_by_episode ON events (agent, episode, position) WHERE episode IS NOT NULL;

CREATE TABLE snapshots (
    agent BIGINT NOT NULL REFERENCES agents (number),
    position BIGINT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (agent, position)
);

-- One row, written to find out whether anything can be written.
CREATE TABLE pulse (number INTEGER PRIMARY KEY CHECK (number = 1), at DOUBLE PRECISION NOT NULL);

-- One row: how often the lead was taken. What a leader of an earlier term appends is refused.
CREATE TABLE terms (number INTEGER PRIMARY KEY CHECK (number = 1), term BIGINT NOT NULL);
INSERT INTO terms VALUES (1, 0);
