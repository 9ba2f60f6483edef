package io.dyber.zernel.analyze;

/// Queries that commands ask and the server for agents asks too.
public final class Questions {
    /// Columns of [#stacks] for lines of the job's own code.
    public static final String LINE_COLUMNS = "state, kind, line, called AS calls";

    /// What these are grouped by.
    public static final String LINE_GROUPS = "state, kind, line, called";

    private Questions() {}

    /// Every step with its phases, its work and the rank that was late.
    ///
    /// @param order what comes after `ORDER BY`
    public static String steps(String order) {
        return """
                SELECT recording, pid, tid, step, steps.step_kind, dur_ns, data_loading_ns, gpu_compute_ns,
                    nccl_collective_ns, optimizer_step_ns, unknown_ns, evaluation_ns, batches, launches, copied_bytes, allocs, syncs,
                    sync_ns, collectives, late_rank, late_ns, source, confidence
                FROM steps
                LEFT JOIN step_work USING (recording, pid, tid, step, start_ns, end_ns, dur_ns, step_kind)
                LEFT JOIN step_late_ranks USING (recording, pid, tid, step)
                ORDER BY\s""" + order;
    }

    /// Time blocked in calls and sampled on a CPU by what is counted together, most first.
    ///
    /// @param always whether start-up and what else is no training step counts too
    /// @param columns what is shown of it beside `share`, `total_ns` and `count`
    /// @param groups what is counted together
    /// @param selected a condition on `recording, pid, tid, role, state, kind, name, line, called, idle`
    /// @param top rows at most
    public static String stacks(boolean always, String columns, String groups, String selected, int top) {
        return """
                SELECT
                    sum(total_ns) / sum(sum(total_ns)) OVER () AS share,
                    CAST(sum(total_ns) AS BIGINT) AS total_ns,
                    CAST(sum(times) AS BIGINT) AS count,
                    %s
                FROM (
                    SELECT
                        recording, pid, tid, role, state, kind, name, line, calls AS times, total_ns,
                        coalesce(called, CASE WHEN kind <> 'sample' THEN name END, library) AS called
                    FROM %s
                    JOIN stack_lines USING (id)
                    WHERE %s
                )
                GROUP BY %s
                ORDER BY 2 DESC, %s
                LIMIT %d
                """
                .formatted(columns, always ? "stack_times" : "training_stack_times", selected, groups, groups, top);
    }
}
