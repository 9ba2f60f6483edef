-- Why each stream of a GPU was idle between its activities, in the words of HTA.
--
-- HTA is Holistic Trace Analysis. A gap is *host wait* where the next activity was launched after the one before had
-- ended, *kernel wait* where it was launched before and the gap is shorter than 30 us, and *other* where it is longer:
-- it waited for an event, another stream or the host. What lies between two traces is none. HTA's
-- `get_idle_time_breakdown` gives the same for the steps that it keeps: it leaves out the last `ProfilerStep`,
-- activities whose launch is not in the trace, and what is below a microsecond.
--
-- needs: gpu_activity, gpu_traces
CREATE VIEW gpu_stream_idle AS
WITH
    thresholds AS (
        SELECT 30000 AS kernel_wait_ns -- [ns] gap up to which an activity follows the one before at once
    ),
    gaps AS (
        SELECT
            recording,
            pid,
            device,
            stream,
            launch_ns,
            start_ns,
            lag(end_ns) OVER (PARTITION BY recording, pid, device, stream ORDER BY start_ns) AS before_ns
        FROM gpu_activity
    ),
    begins AS (
        SELECT recording, pid, started_ns
        FROM gpu_traces
        WHERE started_ns IS NOT NULL
    ),
    judged AS (
        SELECT
            gaps.recording,
            gaps.pid,
            gaps.device,
            gaps.stream,
            greatest(gaps.start_ns - gaps.before_ns, 0) AS dur_ns,
            CASE
                WHEN gaps.launch_ns > gaps.before_ns THEN 'host wait'
                WHEN gaps.start_ns - gaps.before_ns < thresholds.kernel_wait_ns THEN 'kernel wait'
                ELSE 'other'
            END AS cause
        FROM gaps
        ASOF LEFT JOIN begins
            ON begins.recording = gaps.recording
            AND begins.pid = gaps.pid
            AND begins.started_ns <= gaps.start_ns
        CROSS JOIN thresholds
        WHERE coalesce(gaps.before_ns >= begins.started_ns, gaps.before_ns IS NOT NULL)
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU, as the process counts them
    stream, -- id of the CUDA stream, as the profiler counts them
    cause, -- host wait, kernel wait or other
    count(*) AS gaps, -- times
    CAST(sum(dur_ns) AS BIGINT) AS idle_ns -- [ns] in sum
FROM judged
GROUP BY ALL
ORDER BY recording, pid, device, stream, cause
