-- Processes that use the GPU and of which no steps were found, with the reason.
--
-- Without steps nothing can be said per step, so there is no verdict on these processes.
--
-- needs: _marker_ratings
-- digest: kept
CREATE VIEW processes_without_steps AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread in which steps were looked for
    what, -- what comes most evenly, a function or kernel; NULL where nothing does
    n AS calls, -- how often
    confidence, -- how sure it is that it comes once a step, 0 to 1
    why_not AS why -- why there are no steps
FROM _marker_ratings
WHERE why_not IS NOT NULL
ORDER BY recording, pid
