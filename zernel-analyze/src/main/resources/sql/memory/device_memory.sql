-- Live device memory over time: one row per allocation or release, with the exact sum after it.
--
-- Counted are the bytes of outermost calls that succeeded, since recording began. Memory allocated before is not in the
-- sum, and neither is its release.
--
-- needs: events
CREATE TABLE device_memory AS
WITH
    changes AS (
        SELECT
            recording,
            pid,
            device,
            ts_ns + coalesce(dur_ns, 0) AS at_ns,
            CASE kind WHEN 'gpu_alloc' THEN bytes ELSE -bytes END AS change_bytes
        FROM events
        WHERE kind IN ('gpu_alloc', 'gpu_free')
            AND (kind IN ('gpu_alloc', 'gpu_free')) IS TRUE
            AND outermost(depth, ts_ns)
            AND status = 0
            AND bytes > 0
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them; NULL when that is not known
    at_ns, -- [ns] when the call returned
    change_bytes, -- [bytes] allocated, or released when negative
    CAST(sum(change_bytes) OVER (
        PARTITION BY recording, pid, device
        ORDER BY at_ns
        ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS live_bytes -- [bytes] live after it
FROM changes
