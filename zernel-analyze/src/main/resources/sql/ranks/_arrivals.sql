-- By how much a machine's clock is ahead of the first one's, for each 10 s in which collectives were called.
--
-- Outside what was compared, the nearest stretch before counts, and before the first that one. A row is the stretch
-- that counts when the 10 s begin, or one that begins in them.
--
-- needs: _collective_calls, recording_clocks, host_clocks
-- dialect: common
CREATE TABLE _clock_offsets AS
WITH
    called AS (
        SELECT DISTINCT
            clocks.clock,
            calls.ts_ns + clocks.shift_ns - (calls.ts_ns + clocks.shift_ns) % 10000000000 AS bucket_ns
        FROM _collective_calls AS calls
        JOIN recording_clocks AS clocks ON clocks.recording = calls.recording
    ),
    known AS (
        SELECT
            clock,
            CASE WHEN row_number() OVER (PARTITION BY clock ORDER BY from_ns) = 1 THEN 0 ELSE from_ns END AS from_ns,
            lead(from_ns, 1, 9223372036854775807) OVER (PARTITION BY clock ORDER BY from_ns) AS until_ns,
            offset_ns,
            error_ns
        FROM host_clocks
        UNION ALL
        SELECT DISTINCT reference_clock, 0, 9223372036854775807, 0, 0
        FROM host_clocks
    ),
    moments AS (
        SELECT clock, bucket_ns AS at_ns, 1 AS is_bucket, CAST(NULL AS BIGINT) AS from_ns
        FROM called
        UNION ALL
        SELECT clock, from_ns, 0, from_ns
        FROM known
    ),
    counting AS (
        SELECT
            clock,
            at_ns,
            is_bucket,
            max(from_ns) OVER (PARTITION BY clock ORDER BY at_ns, is_bucket ROWS UNBOUNDED PRECEDING) AS from_ns
        FROM moments
    ),
    placed AS (
        SELECT clock, at_ns AS bucket_ns, from_ns
        FROM counting
        WHERE is_bucket = 1
        UNION
        SELECT clock, from_ns - from_ns % 10000000000, from_ns
        FROM known
    ),
    machines AS (
        SELECT DISTINCT clock, machine
        FROM recording_clocks
    )
SELECT
    machines.machine, -- machine, by the number of its clock
    placed.bucket_ns, -- [ns] begin of 10 s, by that clock
    known.from_ns, -- [ns] from when on the offset counts, by that clock
    known.until_ns, -- [ns] and until when
    known.offset_ns, -- [ns] by which the clock is ahead
    known.error_ns -- [ns] by which that may be off, +-
FROM placed
JOIN known ON known.clock = placed.clock AND known.from_ns = placed.from_ns
JOIN machines ON machines.clock = placed.clock;

-- When each rank came to each collective, on one clock.
--
-- needs: _collective_calls, recording_clocks, _clock_offsets, _wait_arrivals
-- dialect: common
CREATE TABLE _arrivals AS
WITH
    calls AS (
        SELECT calls.*, calls.ts_ns + clocks.shift_ns AS at_ns, clocks.machine
        FROM _collective_calls AS calls
        JOIN recording_clocks AS clocks ON clocks.recording = calls.recording
    )
SELECT
    calls.comm_id, -- communicator, the same number in all ranks; -1, -2, ... for jobs without NCCL
    calls.number, -- number of the collective on it, from 0; of a job without NCCL, of the step
    calls.name, -- NCCL function, or torch.distributed
    calls.bytes, -- [bytes] of this rank
    calls.rank, -- the rank
    calls.nranks, -- ranks of the communicator
    calls.recording, -- its recording
    calls.pid, -- its process
    calls.ts_ns, -- [ns] when it called, by its own clock
    calls.at_ns - coalesce(known.offset_ns, 0) AS at_ns, -- [ns] the same by the clock of the first machine, if known
    known.error_ns, -- [ns] by which that may be off, +-; NULL where it is not known
    FALSE AS by_waits, -- whether that follows from how long it waits
    TRUE AS ranks_known -- whether `rank` is its rank
FROM calls
LEFT JOIN _clock_offsets AS known
    ON known.machine = calls.machine
    AND known.bucket_ns = calls.at_ns - calls.at_ns % 10000000000
    AND known.from_ns <= calls.at_ns
    AND known.until_ns > calls.at_ns
UNION ALL
SELECT comm_id, number, 'torch.distributed', NULL, rank, nranks, recording, pid, ts_ns, at_ns, 0, TRUE, known
FROM _wait_arrivals
