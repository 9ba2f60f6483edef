-- Whose clock each recording's times are by.
--
-- Recordings of one machine (the same boot) share its clock. Each turned it into time of day by an offset of its own,
-- so their times differ by exactly that; `shift_ns` takes it out.
--
-- needs: files, footer
-- digest: footer
CREATE TABLE recording_clocks AS
WITH
    offsets AS (
        SELECT
            recording,
            value ->> '$.boot_id' AS boot_id,
            CAST(value ->> '$.offset_ns' AS BIGINT) AS offset_ns
        FROM footer
        WHERE key = 'zernel.clock'
    ),
    hosts AS (
        SELECT recording, value ->> '$.host' AS host
        FROM footer
        WHERE key = 'zernel.recording'
    ),
    clocks AS (
        SELECT
            files.recording,
            hosts.host,
            coalesce(offsets.boot_id, hosts.host, format('recording {}', files.recording)) AS clock,
            CASE WHEN offsets.boot_id IS NOT NULL THEN offsets.offset_ns END AS offset_ns
        FROM files
        LEFT JOIN hosts ON hosts.recording = files.recording
        LEFT JOIN offsets ON offsets.recording = files.recording
    )
SELECT
    recording, -- recording
    host, -- machine by name, if known
    clock, -- machine by its clock: the id of its boot, else its name
    dense_rank() OVER (ORDER BY clock) AS machine, -- the same as a number
    coalesce(first_value(offset_ns) OVER (PARTITION BY clock ORDER BY recording) - offset_ns, 0)
        AS shift_ns -- [ns] to add to its times to compare them with those of the machine's first recording
FROM clocks
ORDER BY recording
