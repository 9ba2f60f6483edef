-- When each rank came to each collective, on one clock, and how much later than the middle rank.
--
-- Arrival is when the rank calls, on its CPU; the GPU begins later. Times of several machines are put on the clock of
-- the first one as far as host_clocks knows them. Of jobs that do not use NCCL, such as those of gloo, the waits of
-- torch.distributed in a step count as one collective: who waits least came last.
--
-- needs: _collective_calls, recording_clocks, host_clocks, _wait_arrivals
CREATE TABLE rank_arrivals AS
WITH
    calls AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.comm_id,
            calls.number,
            calls.name,
            calls.bytes,
            calls.rank,
            calls.nranks,
            calls.ts_ns,
            calls.ts_ns + clocks.shift_ns AS at_ns,
            clocks.clock
        FROM _collective_calls AS calls
        JOIN recording_clocks AS clocks ON clocks.recording = calls.recording
    ),
    known AS (
        SELECT
            clock,
            CASE WHEN from_ns > min(from_ns) OVER (PARTITION BY clock) THEN from_ns ELSE 0 END AS from_ns,
            offset_ns,
            error_ns
        FROM host_clocks
        UNION ALL
        SELECT DISTINCT reference_clock, 0, 0, 0
        FROM host_clocks
    ),
    timed AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.comm_id,
            calls.number,
            calls.name,
            calls.bytes,
            calls.rank,
            calls.nranks,
            calls.ts_ns,
            calls.clock,
            calls.at_ns - coalesce(known.offset_ns, 0) AS at_ns,
            known.error_ns,
            FALSE AS by_waits,
            TRUE AS ranks_known
        FROM calls
        ASOF LEFT JOIN known ON known.clock = calls.clock AND known.from_ns <= calls.at_ns
        UNION ALL
        SELECT
            recording,
            pid,
            comm_id,
            number,
            'torch.distributed',
            NULL,
            rank,
            nranks,
            ts_ns,
            clock,
            at_ns,
            0,
            TRUE,
            known
        FROM _wait_arrivals
    )
SELECT
    comm_id, -- communicator, the same number in all ranks; -1, -2, ... for jobs without NCCL
    number, -- number of the collective on it, from 0; of a job without NCCL, of the step
    name, -- NCCL function, or torch.distributed
    bytes, -- [bytes] of this rank
    rank, -- the rank
    nranks, -- ranks of the communicator
    recording, -- its recording
    pid, -- its process
    clock, -- its machine
    ts_ns, -- [ns] when it called, by its own clock
    at_ns, -- [ns] the same by the clock of the first machine, where that is known
    error_ns, -- [ns] by which that may be off, +-; NULL where it is not known, and where all ran on one machine
    by_waits, -- whether that follows from how long it waits, in a job without NCCL
    ranks_known, -- whether `rank` is its rank, else a number by process
    at_ns - quantile_disc(at_ns, 0.5) OVER (PARTITION BY comm_id, number) AS lag_ns -- [ns] after the middle rank
FROM timed
