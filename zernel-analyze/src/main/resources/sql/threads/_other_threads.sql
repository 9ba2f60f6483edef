-- What the other threads of training processes run, by samples: Python code, pools for operators, or else.
--
-- Pools are threads of OpenMP, BLAS and the like, which compute a part of what the training thread computes.
--
-- needs: stack_events, stack_lines, training_threads, _thread_numbers
-- digest: kept
CREATE TABLE _other_threads AS
WITH
    constants AS (
        SELECT
            0.5 AS python_share, -- of the CPU time of the other threads, in Python code
            0.1 AS pool_share, -- of it, in pools for operators: less is other libraries
            0.5 AS pools_share, -- of it, in such pools: most is
            20 AS min_samples -- of the other threads, to tell so
    ),
    sums AS (
        SELECT
            events.recording,
            events.pid,
            count(*) AS samples,
            sum(CASE WHEN lines.python THEN events.ns ELSE 0 END) / sum(events.ns) AS share,
            sum(CASE WHEN regexp_matches(lines.stack, 'gomp|iomp|libomp|blas|mkl|tbb|thread_?pool', 'i') THEN events.ns
                ELSE 0 END) / sum(events.ns) AS pool,
            count(DISTINCT events.tid) FILTER (regexp_matches(lines.stack, 'gomp|iomp|libomp', 'i')) AS helpers
        FROM stack_events AS events
        JOIN stack_lines AS lines ON lines.id = events.id
        SEMI JOIN training_threads AS training
            ON training.recording = events.recording
            AND training.pid = events.pid
        ANTI JOIN _thread_numbers AS own
            ON own.recording = events.recording
            AND own.pid = events.pid
            AND own.tid = events.tid
        WHERE events.kind = 'sample' AND events.ns > 0
        GROUP BY events.recording, events.pid
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    share >= python_share AS python, -- whether most is Python code
    pool < pool_share AND samples >= min_samples AS foreign_code, -- whether next to none is in pools for operators
    share < python_share AND pool >= pools_share AND samples >= min_samples AS pools, -- whether most is in such pools
    share AS in_python, -- share of Python code, 0 to 1
    helpers -- threads of OpenMP that were seen
FROM sums
CROSS JOIN constants
