-- Requests of inference per process: how many, how long they take, and how many engine steps.
--
-- Requests that warm up for half of their steps or more count, and are left out of the times.
--
-- needs: requests
CREATE VIEW request_times AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that runs the engine
    count(*) AS requests, -- requests, or groups of them from prompt to prompt
    count(*) - count(CASE WHEN warms_up THEN 1 END) AS warm_requests, -- those that do not warm up
    CAST(median(steps) AS DOUBLE) AS steps_p50, -- median of their engine steps
    CAST(quantile_cont(CASE WHEN NOT warms_up THEN dur_ns END, 0.5) AS BIGINT) AS p50_ns, -- [ns] median
    CAST(quantile_cont(CASE WHEN NOT warms_up THEN dur_ns END, 0.9) AS BIGINT) AS p90_ns, -- [ns] 90th percentile
    CAST(quantile_cont(CASE WHEN NOT warms_up THEN dur_ns END, 0.99) AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    CAST(median(CASE WHEN NOT warms_up THEN first_step_ns END) AS BIGINT) AS first_step_p50_ns -- [ns] median first step
FROM requests
GROUP BY recording, pid, tid
ORDER BY recording, pid, tid
