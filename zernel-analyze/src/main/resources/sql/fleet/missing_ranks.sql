-- Ranks that a job was started with and that no recording has: runs of consecutive numbers.
--
-- needs: _process_info
CREATE VIEW missing_ranks AS
WITH
    started AS (
        SELECT DISTINCT job, TRY_CAST(world_size AS BIGINT) AS world_size, TRY_CAST(rank AS BIGINT) AS rank
        FROM _process_info
        WHERE TRY_CAST(rank AS BIGINT) IS NOT NULL
    ),
    jobs AS (
        SELECT job, max(world_size) AS world_size, count(*) AS ranks
        FROM started
        GROUP BY job
    ),
    expected AS (
        SELECT job, world_size, ranks, unnest(range(world_size)) AS rank
        FROM jobs
        WHERE ranks < world_size
    ),
    absent AS (
        SELECT
            expected.job,
            expected.world_size,
            expected.rank,
            expected.rank - row_number() OVER (PARTITION BY expected.job ORDER BY expected.rank) AS run
        FROM expected
        ANTI JOIN started ON started.job = expected.job AND started.rank = expected.rank
    )
SELECT
    job, -- where its ranks meet
    any_value(world_size) AS world_size, -- ranks of the job
    min(rank) AS first_rank, -- first missing rank
    max(rank) AS last_rank -- last missing rank of the run
FROM absent
GROUP BY job, run
ORDER BY job, first_rank
