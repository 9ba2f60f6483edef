-- GPU memory at the end of each step: what PyTorch had handed out, and what was allocated from the driver.
--
-- A step that ends in the same place of the code should end with the same memory, so a steady rise is a leak.
--
-- needs: step_work, device_memory, _torch_levels
CREATE VIEW step_memory AS
WITH
    devices AS (
        SELECT DISTINCT recording, pid, device FROM device_memory
        UNION
        SELECT DISTINCT recording, pid, device FROM _torch_levels
    ),
    ends AS (
        SELECT work.recording, work.pid, devices.device, work.step, work.end_ns
        FROM step_work AS work
        JOIN devices ON devices.recording = work.recording AND devices.pid = work.pid
    ),
    device_levels AS (
        SELECT recording, pid, coalesce(device, -1) AS device, at_ns, live_bytes FROM device_memory
    ),
    torch_levels AS (
        SELECT recording, pid, coalesce(device, -1) AS device, at_ns, allocated_bytes FROM _torch_levels
    ),
    with_device AS (
        SELECT ends.recording, ends.pid, ends.device, ends.step, ends.end_ns, device_levels.live_bytes
        FROM ends
        ASOF LEFT JOIN device_levels
            ON device_levels.recording = ends.recording
            AND device_levels.pid = ends.pid
            AND device_levels.device = coalesce(ends.device, -1)
            AND device_levels.at_ns <= ends.end_ns
    )
SELECT
    ends.recording, -- recording
    ends.pid, -- process
    ends.device, -- GPU as the process counts them
    ends.step, -- number of the step, from 1
    ends.live_bytes, -- [bytes] allocated from the driver at its end
    torch_levels.allocated_bytes -- [bytes] that PyTorch had handed out at its end
FROM with_device AS ends
ASOF LEFT JOIN torch_levels
    ON torch_levels.recording = ends.recording
    AND torch_levels.pid = ends.pid
    AND torch_levels.device = coalesce(ends.device, -1)
    AND torch_levels.at_ns <= ends.end_ns
ORDER BY ALL
