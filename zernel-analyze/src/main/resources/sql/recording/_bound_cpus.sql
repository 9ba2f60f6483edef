-- Processes whose affinity, and not their quota, keeps them from CPUs of the machine.
--
-- needs: host_usage
CREATE VIEW _bound_cpus AS
SELECT
    recording, -- recording
    pid, -- process that trains
    CAST(round(allowed_cpus) AS BIGINT) AS bound_cpus -- CPUs that it may run on, fewer than the machine has
FROM host_usage
WHERE allowed_cpus < cpus AND coalesce(quota_cpus, cpus) > allowed_cpus
