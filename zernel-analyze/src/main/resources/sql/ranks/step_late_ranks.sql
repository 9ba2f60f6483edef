-- Which rank the others waited for in each step, and how late it came.
--
-- Of the collectives that the process called in the step, the one to which the last rank came latest counts, where all
-- recorded ranks called it and the delay is above the error of the clocks.
--
-- needs: rank_arrivals, collective_arrivals, steps, _step_counts
CREATE VIEW step_late_ranks AS
WITH
    spans AS (
        SELECT steps.recording, steps.pid, steps.tid, steps.step, steps.start_ns, steps.end_ns
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
    ),
    delays AS (
        SELECT calls.recording, calls.pid, calls.ts_ns, arrivals.late_rank, arrivals.behind_ns
        FROM rank_arrivals AS calls
        JOIN collective_arrivals AS arrivals
            ON arrivals.comm_id = calls.comm_id
            AND arrivals.number = calls.number
        WHERE arrivals.by_all AND arrivals.late_rank IS NOT NULL
    )
SELECT
    spans.recording, -- recording
    spans.pid, -- process
    spans.tid, -- training thread whose steps these are
    spans.step, -- number of the step, from 1
    arg_max(delays.late_rank, delays.behind_ns) AS late_rank, -- rank that came latest
    max(delays.behind_ns) AS late_ns -- [ns] how much later than the last but one
FROM delays
ASOF JOIN spans
    ON spans.recording = delays.recording
    AND spans.pid = delays.pid
    AND spans.start_ns <= delays.ts_ns
WHERE delays.ts_ns < spans.end_ns
GROUP BY spans.recording, spans.pid, spans.tid, spans.step
