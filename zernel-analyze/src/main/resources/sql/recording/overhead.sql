-- What recording cost the recorded programs: probed calls times the cost of one, measured at the start.
--
-- Only probes on functions count. The share is of one CPU, over the length of the recording.
--
-- needs: footer
CREATE VIEW overhead AS
WITH
    parsed AS (
        SELECT
            recording,
            from_json(value, '{"cost_ns_per_hit":"DOUBLE","method":"VARCHAR","hits":"BIGINT",
                "counted_hits":"BIGINT","cpu_ns_total":"BIGINT","share":"DOUBLE",
                "recorder_cpu_ns":"BIGINT"}') AS o
        FROM footer
        WHERE key = 'zernel.overhead'
    ),
    means AS (
        SELECT recording, o, coalesce(o.cpu_ns_total / nullif(o.hits, 0), o.cost_ns_per_hit) AS mean_ns
        FROM parsed
    )
SELECT
    recording, -- recording
    o.hits AS hits, -- probed calls
    o.counted_hits AS counted_hits, -- of them, calls that were only counted
    CAST(round(mean_ns) AS BIGINT) AS cost_ns, -- [ns] CPU time that one costs in the mean; NULL when not measured
    o.cpu_ns_total AS cpu_ns, -- [ns] hits times cost
    o.share AS share, -- the same as a share of one CPU, 0 to 1
    o.recorder_cpu_ns AS recorder_cpu_ns, -- [ns] on a CPU, of the recorder; NULL in files made before they said so
    o.method AS method -- how the cost was measured, or why not
FROM means
ORDER BY recording
