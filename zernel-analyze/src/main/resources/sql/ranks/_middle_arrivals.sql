-- When the middle rank came to each collective.
--
-- Times are those since the first arrival: percentile_disc is a DOUBLE in Spark, exact to 256 ns for times since 1970.
--
-- needs: _arrivals
-- dialect: common
CREATE TABLE _middle_arrivals AS
WITH
    begun AS (
        SELECT min(at_ns) AS begin_ns
        FROM _arrivals
    )
SELECT
    arrivals.comm_id, -- communicator
    arrivals.number, -- number of the collective on it
    CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY arrivals.at_ns - begun.begin_ns) AS BIGINT) + min(begun.begin_ns)
        AS middle_ns -- [ns] by the clock of the first machine
FROM _arrivals AS arrivals
CROSS JOIN begun
GROUP BY arrivals.comm_id, arrivals.number
