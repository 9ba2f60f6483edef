-- Communication is cut into many small collectives. Each costs a call and a round trip, whatever its size.
--
-- Compared is with as few collectives of the usual bucket's size as hold the same bytes. One more costs the call, or a
-- round trip of the GPUs if that takes longer: the shortest that was seen of a collective alone, such as a barrier;
-- else 20 us are assumed. Where computation runs beside them, some of that may be hidden.
-- Does not apply to operations inside a group, which NCCL sends together, nor where the GPU hides all of it.
--
-- needs: _small_collectives
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl lists the sizes
-- lines: the collectives WHERE thread = 'training' AND step_kind = 'train' AND 'collective' IN (part, state)
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps, without warm-up
            20 AS min_per_step, -- small collectives per step
            0.5 AS min_part, -- of all collectives
            0.02 AS min_share -- what can be saved, as a share of step time
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread whose steps these are
    round(small, 1) AS value, -- small collectives per step
    'small collectives per step' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] of those that are too many
    bound_ns, -- [ns] saved at most, when none costs anything
    format('mean of {} steps: {:.0f} of {:.0f} collectives are below 4 MiB, median {:.1f} KiB; {:.0f} would do; ',
        steps, small, collectives, median_bytes / 1024, enough)
        || format('the calls take {}, a round trip {}; ',
            ms(call_ns),
            CASE
                WHEN round_trip_ns IS NULL THEN '20 us (assumed)'
                ELSE format('{:.0f} us (the shortest seen)', round_trip_ns / 1e3)
            END)
        || CASE WHEN alone THEN 'nothing else runs at the same time; ' ELSE '' END AS evidence, -- what it rests on
    'send less often: larger buckets (bucket_cap_mb), larger FSDP units, or one flat tensor' AS advice, -- what to try
    'zernel-analyze nccl {}' AS next_command -- to see more
FROM _small_collectives
CROSS JOIN thresholds
WHERE steps >= min_steps
    AND small >= min_per_step
    AND small >= min_part * collectives
    AND lost_ns >= min_share * step_ns
