-- Where interpreters keep their state in the memory of processes. Python's lock (GIL) is a part of it.
--
-- Processes that were forked have it where their parent has it.
--
-- needs: footer
CREATE VIEW _python_states AS
WITH
    pythons AS (
        SELECT
            recording,
            unnest(from_json(value, '{"pythons":[{"runtimes":[{"address":"BIGINT","bytes":"BIGINT"}]}]}').pythons) AS p
        FROM footer
        WHERE key = 'zernel.stacks'
    ),
    -- Recordings that say it of each interpreter.
    known AS (
        SELECT recording, bool_and(coalesce(len(p.runtimes), 0) > 0) AS every_one
        FROM pythons
        GROUP BY recording
    ),
    states AS (
        SELECT recording, unnest(p.runtimes) AS r
        FROM pythons
    )
SELECT
    states.recording, -- recording
    states.r.address AS from_addr, -- first address
    states.r.address + states.r.bytes AS until_addr, -- address behind the last
    known.every_one -- whether the recording has the states of all its interpreters
FROM states
JOIN known ON known.recording = states.recording
