-- How long each rank held up the others, over time: at most 60 points per communicator, for drawing.
--
-- A collective is held up by the rank that comes last, for as long as it comes after the last but one. Ranks that never
-- came last are no rows.
--
-- needs: collective_arrivals
CREATE VIEW rank_delays AS
WITH
    placed AS (
        SELECT
            comm_id,
            number,
            nranks,
            behind_ns,
            late_rank,
            late_recording,
            late_pid,
            (row_number() OVER (PARTITION BY comm_id ORDER BY number) - 1) * 60
                // greatest(count(*) OVER (PARTITION BY comm_id), 60) AS point
        FROM collective_arrivals
        WHERE by_all
    ),
    sizes AS (
        SELECT comm_id, point, count(*) AS collectives, min(number) AS first_number
        FROM placed
        GROUP BY ALL
    )
SELECT
    placed.comm_id, -- communicator, the same number in all ranks
    placed.late_rank AS rank, -- rank that came last
    any_value(placed.late_recording) AS recording, -- its recording
    any_value(placed.late_pid) AS pid, -- its process
    max(placed.nranks) AS nranks, -- ranks of the communicator
    placed.point, -- place on the time axis, from 0
    any_value(sizes.first_number) AS first_number, -- number of the first collective of the point
    any_value(sizes.collectives) AS collectives, -- collectives in the point
    count(*) AS times_last, -- of them, those to which this rank came last
    sum(placed.behind_ns) / any_value(sizes.collectives) AS delay_ns -- [ns] that it held up each of them, on average
FROM placed
JOIN sizes ON sizes.comm_id = placed.comm_id AND sizes.point = placed.point
WHERE placed.late_rank IS NOT NULL
GROUP BY placed.comm_id, placed.late_rank, placed.point
ORDER BY placed.comm_id, rank, placed.point
