-- Events with a stack, each with the time that it stands for, none of it counted twice.
--
-- A call that blocked its thread stands for its duration, but for what a call around it stands for: a `wait` in a
-- `cuda_sync` counts once, as the sync. A sample stands for `period_ns` on a CPU; one inside such a call is part of the
-- call, as where a sync spins. Calls that only enclose others, such as regions, stand for nothing.
--
-- needs: events, _stack_texts
CREATE TABLE stack_events AS
WITH
    taken AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns AS start_ns,
            events.ts_ns + coalesce(events.dur_ns, 0) AS end_ns,
            events.kind,
            events.name,
            CASE
                WHEN events.kind = 'sample' THEN 'on-cpu'
                WHEN events.kind = 'gc' THEN 'gc'
                WHEN events.kind LIKE 'cuda\_%' ESCAPE '\' OR events.kind LIKE 'gpu\_%' ESCAPE '\' THEN 'gpu'
                WHEN events.kind IN ('nccl', 'nccl_comm', 'dist_wait') THEN 'collective'
                ELSE waits_for(events.kind, events.name, coalesce(events.object, events.path), FALSE)
            END AS state,
            events.period_ns,
            is_for_memory(events.kernel_entry) AS for_memory,
            events.bytes,
            texts.id
        FROM events
        JOIN _stack_texts AS texts ON texts.stack = events.stack
        WHERE events.stack IS NOT NULL
            AND (events.kind NOT IN ('region', 'backward', 'torch_op', 'py_call', 'call')) IS TRUE
    ),
    nested AS (
        SELECT
            taken.*,
            greatest(
                start_ns,
                max(CASE WHEN kind <> 'sample' THEN end_ns END) OVER (
                    PARTITION BY recording, pid, tid
                    ORDER BY start_ns, end_ns DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                )
            ) AS from_ns
        FROM taken
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    start_ns, -- [ns] when it began
    end_ns, -- [ns] when it ended
    start_ns + (end_ns - start_ns) // 2 AS middle_ns, -- [ns] its middle
    kind, -- kind of event
    name, -- function or system call
    state, -- on-cpu, gpu, collective, gc, or what a system call waited for, as in off_cpu_spans
    CAST(CASE
        WHEN kind = 'sample' AND from_ns > start_ns THEN 0
        WHEN kind = 'sample' THEN coalesce(period_ns, 0)
        ELSE greatest(end_ns - from_ns, 0)
    END AS BIGINT) AS ns, -- [ns] time that it stands for
    coalesce(for_memory, FALSE) AS for_memory, -- whether the kernel was in a fault or call for memory
    bytes, -- [bytes] of it
    id -- number of the stack
FROM nested
