-- By how much the clocks of machines differ, measured by the collectives that ran on them.
--
-- No rank can finish a collective before the last one has called it. So when machine A calls after machine B was done,
-- by their clocks, A's is ahead by at least the difference; each collective bounds the offset from both sides. The
-- offset is the middle of what most collectives agree on (Marzullo's algorithm, as in NTP) and the error is half its
-- width plus what clocks may drift apart meanwhile: about the time that a collective takes where ranks wait for it, and
-- up to half a step where programs run ahead of their GPUs. Long recordings are estimated in stretches of 10 s or more.
-- A machine without rows shares no communicator with the first one, and cannot be compared with it.
--
-- needs: _collective_calls, recording_clocks
-- dialect: common
CREATE TABLE host_clocks AS
WITH
    thresholds AS (
        SELECT
            10000000000 AS stretch_ns, -- [ns] shortest stretch
            1e-5 AS max_drift, -- of clocks that NTP disciplines, within a stretch
            0.5 AS min_agreeing -- share of collectives that agree
    ),
    machines AS (
        SELECT clock, min(host) AS host, row_number() OVER (ORDER BY min(recording)) AS place
        FROM recording_clocks
        GROUP BY clock
    ),
    several AS (
        SELECT recording, clock, shift_ns
        FROM recording_clocks
        WHERE (SELECT count(*) FROM machines) > 1
    ),
    sides AS (
        SELECT
            calls.comm_id,
            calls.number,
            several.clock,
            max(calls.ts_ns + several.shift_ns) AS called_ns,
            min(calls.done_ns + several.shift_ns) AS done_ns
        FROM _collective_calls AS calls
        JOIN several ON several.recording = calls.recording
        GROUP BY ALL
    ),
    reference AS (
        SELECT sides.comm_id, sides.number, machines.clock, machines.host, sides.called_ns, sides.done_ns
        FROM sides
        JOIN machines ON machines.clock = sides.clock
        WHERE machines.place = 1 AND sides.done_ns IS NOT NULL
    ),
    bounds AS (
        SELECT
            sides.clock,
            reference.clock AS reference_clock,
            reference.host AS reference_host,
            sides.called_ns AS at_ns,
            sides.called_ns - reference.done_ns AS low_ns,
            sides.done_ns - reference.called_ns AS high_ns,
            min(sides.called_ns) OVER (PARTITION BY sides.clock) AS first_ns,
            max(sides.called_ns) OVER (PARTITION BY sides.clock) + 1 AS last_ns
        FROM sides
        JOIN reference ON reference.comm_id = sides.comm_id AND reference.number = sides.number
        WHERE sides.clock <> reference.clock AND sides.done_ns IS NOT NULL
    ),
    placed AS (
        SELECT
            bounds.*,
            CAST(floor((at_ns - first_ns) * stretches / (last_ns - first_ns)) AS BIGINT) AS stretch
        FROM (
            SELECT bounds.*, greatest(CAST(floor((last_ns - first_ns) / stretch_ns) AS BIGINT), 1) AS stretches
            FROM bounds
            CROSS JOIN thresholds
            WHERE low_ns <= high_ns
        ) AS bounds
    ),
    stretches AS (
        SELECT
            placed.clock,
            placed.stretch,
            min(placed.reference_clock) AS reference_clock,
            min(placed.reference_host) AS reference_host,
            min(placed.at_ns) AS from_ns,
            max(placed.at_ns) AS until_ns,
            count(*) AS collectives,
            (max(placed.at_ns) - min(placed.at_ns)) * max(thresholds.max_drift) / 2 AS drift_ns
        FROM placed
        CROSS JOIN thresholds
        GROUP BY ALL
    ),
    edges AS (
        SELECT clock, stretch, low_ns AS edge_ns, 1 AS opens
        FROM placed
        UNION ALL
        SELECT clock, stretch, high_ns, -1
        FROM placed
    ),
    regions AS (
        SELECT
            clock,
            stretch,
            edge_ns AS low_ns,
            lead(edge_ns) OVER (PARTITION BY clock, stretch ORDER BY edge_ns, opens DESC) AS high_ns,
            sum(opens) OVER (
                PARTITION BY clock, stretch
                ORDER BY edge_ns, opens DESC
                ROWS UNBOUNDED PRECEDING
            ) AS agreeing
        FROM edges
    ),
    counted AS (
        SELECT clock, stretch, low_ns, high_ns, agreeing, max(agreeing) OVER (PARTITION BY clock, stretch) AS most
        FROM regions
    ),
    most AS (
        SELECT clock, stretch, agreeing, min(low_ns) AS low_ns, max(high_ns) AS high_ns
        FROM counted
        WHERE agreeing = most
        GROUP BY ALL
    )
SELECT
    stretches.clock, -- the machine: the id of its boot, else its name
    machines.host, -- its name
    stretches.reference_host, -- name of the machine with which it is compared, that of the first recording
    stretches.reference_clock, -- the same by its boot
    stretches.from_ns, -- [ns] begin of the stretch, by the clock of the machine
    stretches.until_ns, -- [ns] its end
    CAST(round((most.low_ns + most.high_ns) / 2) AS BIGINT) AS offset_ns, -- [ns] by which the machine's clock is ahead
    CAST(ceil((most.high_ns - most.low_ns) / 2 + stretches.drift_ns) AS BIGINT) AS error_ns, -- [ns] it may be off, +-
    stretches.collectives, -- collectives that both machines took part in
    CAST(most.agreeing AS BIGINT) AS agreeing -- of them, those that agree with the offset
FROM stretches
JOIN most ON most.clock = stretches.clock AND most.stretch = stretches.stretch
JOIN machines ON machines.clock = stretches.clock
CROSS JOIN thresholds
WHERE most.agreeing >= thresholds.min_agreeing * stretches.collectives
ORDER BY stretches.clock, stretches.from_ns
