-- A GPU reports errors. The driver told of an XID, or ECC found memory that it could not correct.
--
-- An XID often ends the program that uses the GPU, and one of the hardware comes back until it is mended. Memory
-- errors from before the recording are told too, as a risk.
-- Does not apply to errors that the driver does not report to NVML; the kernel's log has all of them.
--
-- needs: device_errors, recordings, files
-- severity: high for the hardware, medium for what a program does wrong, low for errors before the recording
-- hint: dmesg | grep -i xid
WITH
    thresholds AS (
        SELECT 1 AS min_times -- errors while it was recorded, or before it
    ),
    told AS (
        SELECT
            errors.*,
            CASE
                WHEN errors.times < thresholds.min_times THEN 'low'
                WHEN errors.cause IN ('program', 'echo') THEN 'medium'
                ELSE 'high'
            END AS severity,
            (errors.first_ns - recordings.started_ns) / 1e9 AS first_s
        FROM device_errors AS errors
        CROSS JOIN thresholds
        LEFT JOIN recordings ON recordings.recording = errors.recording
        WHERE errors.times >= thresholds.min_times OR errors.before >= thresholds.min_times
    )
SELECT
    recording, -- recording
    recording_label(recording)
        || format('GPU {}', device) AS subject, -- the GPU, as the driver counts them
    CAST(CASE WHEN severity = 'low' THEN before ELSE times END AS DOUBLE) AS value, -- how often
    CASE WHEN severity = 'low' THEN 'errors before the recording' ELSE 'errors' END AS unit, -- unit of value
    severity, -- high, medium or low
    coalesce(format('XID {}: ', xid), '') || meaning
        || CASE
            WHEN severity = 'low' THEN format(', {} since the driver was loaded, none while it was recorded', before)
            WHEN times = 1 THEN coalesce(format(', {:.1f} s after the start', first_s), '')
            ELSE format(', {} times', times) || coalesce(format(', first {:.1f} s after the start', first_s), '')
        END
        || coalesce(format('; only pid {} was on the GPU', pid), '') AS evidence, -- what it rests on
    CASE cause
        WHEN 'program' THEN 'a kernel does what it must not: compute-sanitizer says which'
        WHEN 'echo' THEN 'look for the error before it in the kernel''s log: dmesg | grep -i xid'
        WHEN 'memory' THEN 'take the GPU out and reset it, replace it if that comes back: nvidia-smi -q -d ECC'
        WHEN 'link' THEN 'look at the NVLinks: nvidia-smi nvlink -e; reset the GPUs of the machine, or have it repaired'
        WHEN 'bus' THEN 'take the machine out and restart it; look at power, heat and the slot of the GPU'
        ELSE 'take the GPU out and restart the machine; report it with nvidia-bug-report.sh'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM device_errors"' AS next_command -- to see more
FROM told
