-- GPU memory at the end of each step: what PyTorch had handed out, and what was allocated from the driver.
--
-- A step that ends in the same place of the code should end with the same memory, so a steady rise is a leak.
--
-- needs: step_work, device_memory, _torch_levels
CREATE VIEW step_memory AS
WITH
    known AS (
        SELECT DISTINCT recording, pid, device FROM device_memory
        UNION
        SELECT DISTINCT recording, pid, device FROM _torch_levels
    ),
    -- One short key to sort by.
    devices AS (
        SELECT recording, pid, device, CAST(row_number() OVER () AS INTEGER) AS number
        FROM known
    ),
    ends AS (
        SELECT work.recording, work.pid, devices.device, devices.number, work.step, work.end_ns
        FROM step_work AS work
        JOIN devices ON devices.recording = work.recording AND devices.pid = work.pid
    ),
    device_levels AS (
        SELECT devices.number, levels.at_ns, levels.live_bytes
        FROM device_memory AS levels
        JOIN devices
            ON devices.recording = levels.recording
            AND devices.pid = levels.pid
            AND devices.device IS NOT DISTINCT FROM levels.device
    ),
    torch_levels AS (
        SELECT devices.number, levels.at_ns, levels.allocated_bytes
        FROM _torch_levels AS levels
        JOIN devices
            ON devices.recording = levels.recording
            AND devices.pid = levels.pid
            AND devices.device IS NOT DISTINCT FROM levels.device
    ),
    with_device AS (
        SELECT ends.*, device_levels.live_bytes
        FROM ends
        ASOF LEFT JOIN device_levels ON device_levels.number = ends.number AND device_levels.at_ns <= ends.end_ns
    )
SELECT
    ends.recording, -- recording
    ends.pid, -- process
    ends.device, -- GPU as the process counts them
    ends.step, -- number of the step, from 1
    ends.live_bytes, -- [bytes] allocated from the driver at its end
    torch_levels.allocated_bytes -- [bytes] that PyTorch had handed out at its end
FROM with_device AS ends
ASOF LEFT JOIN torch_levels ON torch_levels.number = ends.number AND torch_levels.at_ns <= ends.end_ns
ORDER BY ALL
