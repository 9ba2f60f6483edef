-- Much of each step is work on the CPU in no recorded call. The training thread runs Python between its calls.
--
-- Typical is making batches in the loop, collating, logging, metrics. Counted is the median step, so that single
-- stalls do not count (slow_steps, gc_stall). In a loop without a DataLoader the forward pass is in no recorded call
-- either: it takes between half and one and a half of the backward pass, so what is lost is a range, and what is taken
-- for the loss assumes three quarters. Whether the rest can be given to another process, made cheaper or left out, only
-- its author knows.
-- Does not apply to jobs that launch work on a GPU (host_bound), where time off the CPU was not recorded, nor to steps
-- in which it is below a millisecond, which any loop in Python has.
--
-- needs: step_states, phase_parts, _launched, kinds
-- severity: high from 25 % of step time
-- hint: py-spy record --pid PID, or torch.profiler.record_function("...") around the suspects, names it
-- lines: that work WHERE thread = 'training' AND kind = 'sample' AND step_kind = 'train' AND part = 'unknown'
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            0.25 AS min_share, -- of the step
            0.1 AS least_share, -- of the step, at least, however long the forward pass is
            1000000 AS min_ns, -- [ns] of it
            0.5 AS forward_share_least, -- of a backward pass, that a forward pass takes: convolutions
            0.75 AS forward_share, -- the same, usually
            1.5 AS forward_share_most -- the same, at most: attention with dropout on a CPU
    ),
    threads AS (
        SELECT states.recording, states.pid, states.tid, count(*) AS steps
        FROM step_states AS states
        JOIN kinds ON kinds.recording = states.recording AND kinds.kind = 'sched' AND kinds.state = 'attached'
        WHERE states.step_kind = 'train'
            AND (states.recording, states.pid) NOT IN (SELECT recording, pid FROM _launched)
        GROUP BY states.recording, states.pid, states.tid
    ),
    -- Where the forward pass was told apart, nothing of it is in no call.
    passes AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            CASE
                WHEN bool_or(parts.part = 'forward') THEN 0
                ELSE sum(CASE WHEN parts.part = 'backward' THEN parts.total_ns ELSE 0 END)
            END AS backward_ns
        FROM threads
        JOIN phase_parts AS parts
            ON parts.recording = threads.recording
            AND parts.pid = threads.pid
            AND parts.tid = threads.tid
        GROUP BY ALL
    ),
    medians AS (
        SELECT
            states.recording,
            states.pid,
            states.tid,
            any_value(threads.steps) AS steps,
            median(states.dur_ns) AS step_ns,
            median(states.between_ns) AS between_ns,
            median(states.called_ns) AS called_ns
        FROM step_states AS states
        JOIN threads
            ON threads.recording = states.recording
            AND threads.pid = states.pid
            AND threads.tid = states.tid
        WHERE states.step_kind = 'train'
        GROUP BY states.recording, states.pid, states.tid
    ),
    costs AS (
        SELECT
            medians.*,
            passes.backward_ns / medians.steps AS backward_ns,
            greatest(medians.between_ns - thresholds.forward_share * passes.backward_ns / medians.steps, 0) AS lost_ns,
            greatest(medians.between_ns - thresholds.forward_share_least * passes.backward_ns / medians.steps, 0)
                AS bound_ns,
            greatest(medians.between_ns - thresholds.forward_share_most * passes.backward_ns / medians.steps, 0)
                AS least_ns
        FROM medians
        JOIN passes ON passes.recording = medians.recording AND passes.pid = medians.pid AND passes.tid = medians.tid
        CROSS JOIN thresholds
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] on the CPU in no call, without the forward pass
    bound_ns, -- [ns] saved at most, when there is no such work
    least_ns AS least_lost_ns, -- [ns] lost at least
    format('median of {} steps: {} of {} on the CPU in no recorded call, {} in calls; ',
        steps, ms(between_ns), ms(step_ns), ms(called_ns))
        || CASE
            WHEN backward_ns > 0 THEN format(
                'the forward pass is part of it: at half to one and a half of {} backward, {} to {} are left; ',
                ms(backward_ns), ms(least_ns), ms(bound_ns)
            )
            ELSE ''
        END AS evidence, -- what it rests on
    'find it with py-spy or record_function; make it cheaper, rarer, or do it in DataLoader workers'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_states"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps
    AND least_ns >= thresholds.least_share * step_ns
    AND lost_ns >= thresholds.min_share * step_ns
    AND lost_ns >= thresholds.min_ns
