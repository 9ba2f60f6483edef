-- Communication is cut into many small collectives. Each costs a call and a round trip, whatever its size.
--
-- Compared is with as few collectives of the usual bucket's size as hold the same bytes. One more costs the call, or a
-- round trip of the GPUs if that takes longer: the shortest that was seen of a collective alone, such as a barrier;
-- else 20 us are assumed. Where computation runs beside them, some of that may be hidden. Without NCCL, as with gloo,
-- it is the waits of a loop: all but one, each as long as the shortest that the steps repeat. At most saved are these
-- waits and what is between two of them.
-- By a trace it is the call, or the shortest on the GPU up to 50 us; gpu_starved may count the same idle time.
-- Does not apply to operations inside a group, which NCCL sends together, nor where the GPU hides all of it.
--
-- needs: _small_collectives, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl lists the sizes
-- lines: the collectives WHERE thread = 'training' AND step_kind = 'train' AND 'collective' IN (part, state)
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps, without warm-up
            2 AS min_traced_steps, -- the same of a trace
            20 AS min_per_step, -- small collectives per step
            0.5 AS min_part, -- of all collectives
            0.02 AS min_share -- what can be saved, as a share of step time
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread whose steps these are
    round(small, 1) AS value, -- small collectives per step
    CASE WHEN on_cpu THEN 'collectives per step' ELSE 'small collectives per step' END AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] of those that are too many
    bound_ns, -- [ns] saved at most, when none costs anything
    CASE
        WHEN by_trace THEN format('mean of {} steps: {:.0f} of {:.0f} collectives are {}; {:.0f} would do; the calls '
                || 'take {}, and the shortest {} on the GPU; ',
            steps, small, collectives,
            coalesce(format('below 4 MiB, median {:.1f} KiB', median_bytes / 1024), 'shorter than 0.1 ms'), enough,
            ms(call_ns), us_or_ms(each_ns))
        WHEN on_cpu THEN format(
            'mean of {} steps: {:.0f} waits for a collective, one after the other, take {}; one would do, and even the '
                || 'shortest takes {}; ',
            steps, collectives, us_or_ms(call_ns), us_or_ms(each_ns))
        ELSE format('mean of {} steps: {:.0f} of {:.0f} collectives are below 4 MiB, median {:.1f} KiB; '
                || '{:.0f} would do; ',
            steps, small, collectives, median_bytes / 1024, enough)
            || format('the calls take {}, a round trip {}; ',
                ms(call_ns),
                CASE
                    WHEN round_trip_ns IS NULL THEN '20 us (assumed)'
                    ELSE format('{:.0f} us (the shortest seen)', round_trip_ns / 1e3)
                END)
    END
        || CASE WHEN alone AND NOT on_cpu AND NOT by_trace THEN 'nothing else runs at the same time; ' ELSE '' END
        AS evidence, -- what it rests on
    CASE
        WHEN on_cpu
            THEN 'one collective in place of the loop: DistributedDataParallel, or torch.cat() of all tensors; with '
                || 'FSDP fewer and larger units; or async_op=True and wait once at the end'
        ELSE 'send less often: larger buckets (bucket_cap_mb), larger FSDP units, or one flat tensor'
    END AS advice, -- what to try
    'zernel-analyze nccl {}' AS next_command -- to see more
FROM _small_collectives
CROSS JOIN thresholds
WHERE steps >= CASE
        WHEN recording IN (SELECT recording FROM files WHERE state = 'trace') THEN min_traced_steps
        ELSE min_steps
    END
    AND small >= min_per_step
    AND small >= min_part * collectives
    AND lost_ns >= min_share * step_ns
