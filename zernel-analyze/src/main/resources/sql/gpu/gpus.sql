-- GPUs of the machine, from the recording's footer.
--
-- needs: footer
-- digest: footer
CREATE VIEW gpus AS
WITH
    parsed AS (
        SELECT
            recording,
            from_json(value, '{"driver":"VARCHAR"}').driver AS driver,
            unnest(from_json(value, '{"devices":[{"index":"BIGINT","name":"VARCHAR","uuid":"VARCHAR",
                "memory_total":"BIGINT",
                "pcie_generation":"BIGINT","pcie_width":"BIGINT","lost_ns":"BIGINT"}]}').devices) AS d
        FROM footer
        WHERE key = 'zernel.gpus'
    )
SELECT
    recording, -- recording
    d."index" AS device, -- GPU as the driver counts them
    d.name AS name, -- model
    d.uuid AS uuid, -- identity
    d.memory_total AS memory_bytes, -- [bytes] its memory
    d.pcie_generation AS pcie_generation, -- of its link to the host, at its best; NULL where the driver did not say
    d.pcie_width AS pcie_width, -- lanes of the link; NULL where the driver did not say
    d.lost_ns AS lost_ns, -- [ns] when it stopped answering, if it did
    driver -- version of the driver
FROM parsed
ORDER BY recording, device
