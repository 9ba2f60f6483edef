-- Threads that launch kernels or CUDA graphs.
--
-- needs: _launched
CREATE TABLE _launching_threads AS
SELECT
    recording, -- recording
    pid, -- process
    tid -- thread
FROM _launched
GROUP BY ALL
