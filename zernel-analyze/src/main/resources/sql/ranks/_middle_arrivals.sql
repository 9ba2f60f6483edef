-- When the middle rank came to each collective.
--
-- needs: _arrivals
CREATE TABLE _middle_arrivals AS
SELECT
    comm_id, -- communicator
    number, -- number of the collective on it
    quantile_disc(at_ns, 0.5) AS middle_ns -- [ns] by the clock of the first machine
FROM _arrivals
GROUP BY comm_id, number
