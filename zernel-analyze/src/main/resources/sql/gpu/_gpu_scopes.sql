-- Of which time sums of what a GPU did are: all of a trace, and of a recording by CUPTI the training.
--
-- A trace covers what somebody chose. A recording begins with the start of the job, in which a GPU is idle in another
-- way, so there only what lies between the first step without warm-up and the end of the last counts, as in `gpu_busy`.
-- Where nothing was recorded in that time, all counts.
--
-- needs: gpu_traces, _trained
CREATE VIEW _gpu_scopes AS
WITH
    trained AS (
        SELECT _trained.recording, _trained.pid, min(_trained.start_ns) AS start_ns, max(_trained.end_ns) AS end_ns
        FROM _trained
        JOIN gpu_traces AS traces ON traces.recording = _trained.recording AND traces.pid = _trained.pid
        WHERE traces.clock = 'cupti'
            AND traces.activities > 0
            AND traces.started_ns < _trained.end_ns
            AND traces.ended_ns > _trained.start_ns
        GROUP BY _trained.recording, _trained.pid
    ),
    traced AS (
        SELECT DISTINCT recording, pid
        FROM gpu_traces
    )
SELECT
    traced.recording, -- recording
    traced.pid, -- process
    trained.start_ns IS NOT NULL AS trains, -- whether only the time of the steps after warm-up counts
    trained.start_ns, -- [ns] from when on; NULL where all counts
    trained.end_ns -- [ns] until when
FROM traced
LEFT JOIN trained ON trained.recording = traced.recording AND trained.pid = traced.pid
