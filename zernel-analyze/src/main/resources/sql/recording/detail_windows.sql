-- When each recording holds detail, such as launches and PyTorch's allocator: the windows of time.
--
-- Detail makes a step longer where the CPU is the limit, so it is recorded for a few steps every so often. What a step
-- has of it is known of steps wholly inside a window (`detailed` in `steps`). Recordings that hold detail all the time
-- have no windows. Rows shortly before and after a window are of calls that its probes saw while they were attached or
-- taken away: they are in `events`, and nothing counts them.
--
-- needs: footer
CREATE TABLE detail_windows AS
WITH
    parsed AS (
        SELECT
            recording,
            unnest(from_json(value, '{"windows":[{"start_ns":"BIGINT","end_ns":"BIGINT","reason":"VARCHAR",
                "complete":"BOOLEAN"}]}').windows) AS w
        FROM footer
        WHERE key = 'zernel.detail'
    )
SELECT
    recording, -- recording
    row_number() OVER (PARTITION BY recording ORDER BY w.start_ns) AS number, -- of the window, from 1
    w.start_ns AS start_ns, -- [ns] when all probes were there
    w.end_ns AS end_ns, -- [ns] when the first was taken away, or the recording ended
    w.end_ns - w.start_ns AS dur_ns, -- [ns] how long it was
    w.reason AS reason, -- why then: start, trial, turn or trigger
    coalesce(w.complete, FALSE) AS complete -- whether nothing of it was lost
FROM parsed
WHERE w.end_ns > w.start_ns
ORDER BY recording, start_ns
