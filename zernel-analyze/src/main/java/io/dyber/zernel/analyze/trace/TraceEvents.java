package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;

/// Makes events, as a recording has them, of the tables of a trace that stands alone (see [TraceTables]).
///
/// Calls of CUDA, of its driver and of HIP get the kind that a recording gives them by their names. A call inside one with
/// the same correlation has depth 1. Copies know direction and memory by what they copied on the GPU. Steps of the
/// profiler, ranges `step 12` or `iteration_12`, and passes of servers of models have the role `step`, but for one that the
/// end of profiling cut off: PyTorch begins the next step before it stops. `nccl:all_reduce` and its like are calls of NCCL.
/// Backward passes are not in a trace: one is from the first to the last of autograd's functions between two things that the
/// training thread does itself. Nor are waits for collectives of gloo: where no GPU is used, one is where the training thread
/// runs no operator and gets no batch while a collective runs. Functions of Python say what is between operators, and where the GPU has nothing to do.
final class TraceEvents {
    /// Of names of the runtime, the driver and HIP what they have in common, as `MemcpyAsync`.
    private static final String OPERATION =
            "regexp_replace(regexp_replace(name, '(_v[0-9]+)?(_pt[sd][sz])?$', ''), '^_*(cuda|cu|hipExt|hip)', '')";

    private TraceEvents() {}

    /// Creates the table `<table>_events`.
    ///
    /// @param table what the names of the trace's tables begin with
    /// @param base nanoseconds that are added to all times
    /// @param process the process that has what ran on GPUs where nothing says who launched it
    /// @param several whether the trace is of more than one process
    static void create(String table, long base, long process, boolean several, DuckDb duckDb) {
        kinds(table, duckDb);
        launches(table, process, several, duckDb);
        duckDb.execute("CREATE TABLE " + table + "_events AS "
                + EVENTS.replace("$caused_kind", TraceTables.COPY_KIND.formatted("caused", "caused_names"))
                        .replace("$caused_memory", TraceTables.HOST_MEMORY.formatted("caused", "caused_names"))
                        .replace("$owned_kind", TraceTables.COPY_KIND.formatted("owned", "kinds"))
                        .replace("$owned_memory", TraceTables.HOST_MEMORY.formatted("owned", "kinds"))
                        .replace("$t", table)
                        .replace("$base", Long.toString(base)));
        for (String part : new String[] {"activities", "calls", "spans", "functions", "kinds", "owned"}) {
            duckDb.execute("DROP TABLE " + table + "_" + part);
        }
    }

    /// What each name is.
    private static void kinds(String table, DuckDb duckDb) {
        duckDb.execute(
                """
                CREATE TABLE $t_kinds AS
                SELECT
                    id,
                    name,
                    CASE
                        WHEN regexp_matches(operation, '^GraphLaunch') THEN 'cuda_graph'
                        WHEN regexp_matches(operation, '^(Module)?Launch(Grid|Kernel|CooperativeKernel|MultiKernel)')
                            THEN 'cuda_launch'
                        WHEN regexp_matches(operation, '^Mem(cpy|set)') THEN 'cuda_copy'
                        WHEN regexp_matches(operation, '^(Device|Stream|Event|Ctx|Thread)Synchronize$') THEN 'cuda_sync'
                        WHEN regexp_matches(operation, '^(Malloc|MemAlloc)(Async|Managed|Pitch|3D|FromPoolAsync)?$')
                            THEN 'gpu_alloc'
                        WHEN regexp_matches(operation, '^(Free|MemFree)(Async)?$') THEN 'gpu_free'
                        ELSE 'call'
                    END AS call_kind,
                    CASE WHEN starts_with(name, 'autograd::engine::evaluate_function') THEN TRUE END AS is_backward,
                    CASE
                        WHEN regexp_matches(name, '^nccl(:|(All|Reduce|Broadcast|Bcast|Send|Recv|Gather|Scatter))')
                            THEN 'nccl'
                        WHEN regexp_matches(name, '^(gloo|mpi):') THEN 'host collective'
                        WHEN regexp_matches(name, '^(ProfilerStep#|(train(ing)?[ _]?)?(step|iter(ation)?)[ _#:-]?)\\d*$', 'i')
                            THEN 'step'
                        -- A forward pass of vLLM, SGLang or xDiT, which serve requests in such steps.
                        WHEN regexp_matches(name, '^(execute_((\\d+_)?context|diffusion)_\\d|step\\[[A-Z]+ )') THEN 'step'
                    END AS span_kind
                FROM (SELECT id, name, $operation AS operation FROM $t_names)
                """
                        .replace("$t", table)
                        .replace("$operation", OPERATION));
    }

    /// What ran on GPUs with the process and the call that launched it. Of several processes that use a correlation, it
    /// is the one that called last before.
    private static void launches(String table, long process, boolean several, DuckDb duckDb) {
        String owned = several
                ? """
                  CREATE TABLE $t_owned AS
                  SELECT activities.*, coalesce(activities.pid, launches.pid) AS owner, launches.ts_ns AS launch_ns
                  FROM (SELECT *, row_number() OVER () AS row FROM $t_activities) AS activities
                  LEFT JOIN launches
                      ON launches.correlation = activities.correlation
                      AND coalesce(launches.pid = activities.pid, TRUE)
                      AND launches.ts_ns <= activities.ts_ns
                  QUALIFY row_number() OVER (PARTITION BY activities.row ORDER BY launches.ts_ns DESC) = 1
                  """
                : """
                  CREATE TABLE $t_owned AS
                  SELECT activities.*, coalesce(activities.pid, launches.pid) AS owner, launches.ts_ns AS launch_ns
                  FROM $t_activities AS activities
                  LEFT JOIN launches ON launches.correlation = activities.correlation
                  """;
        duckDb.execute(owned.replace(
                        "SELECT activities",
                        """
                        WITH launches AS (
                            SELECT pid, correlation, min(ts_ns) AS ts_ns
                            FROM $t_calls
                            WHERE correlation IS NOT NULL
                            GROUP BY ALL
                        )
                        SELECT activities""")
                .replace("$t", table));
        duckDb.execute("UPDATE " + table + "_owned SET owner = " + process + " WHERE owner IS NULL");
    }

    private static final String EVENTS =
            """
            WITH
                -- The thread that takes the profiler's steps, runs the optimizer, fetches batches, or has most ranges.
                threads AS (
                    SELECT spans.pid, arg_max(spans.tid, (spans.weight, spans.calls)) AS tid
                    FROM (
                        SELECT
                            spans.pid,
                            spans.tid,
                            max(CASE
                                WHEN kinds.span_kind = 'step' THEN 4
                                WHEN starts_with(kinds.name, 'Optimizer.step#') THEN 3
                                WHEN starts_with(kinds.name, 'enumerate(DataLoader)#') THEN 2
                                WHEN spans.kind = 'region' THEN 1
                                ELSE 0
                            END) AS weight,
                            count(*) AS calls
                        FROM $t_spans AS spans
                        JOIN $t_kinds AS kinds ON kinds.id = spans.name
                        GROUP BY ALL
                    ) AS spans
                    GROUP BY spans.pid
                ),
                -- What autograd runs, and what the training thread does besides.
                turns AS (
                    SELECT
                        spans.pid,
                        spans.tid,
                        threads.tid AS training_tid,
                        spans.ts_ns,
                        spans.ts_ns + spans.dur_ns AS end_ns,
                        coalesce(kinds.is_backward, FALSE) AS is_backward
                    FROM $t_spans AS spans
                    JOIN $t_kinds AS kinds ON kinds.id = spans.name
                    JOIN threads ON threads.pid = spans.pid
                    WHERE kinds.is_backward OR spans.tid = threads.tid
                ),
                inside AS (
                    SELECT
                        *,
                        max(CASE WHEN is_backward THEN end_ns END) OVER (
                            PARTITION BY pid, tid
                            ORDER BY ts_ns, end_ns DESC
                            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                        ) AS until_ns
                    FROM turns
                    WHERE pid IN (SELECT pid FROM turns WHERE is_backward)
                ),
                numbered AS (
                    SELECT
                        *,
                        count(CASE WHEN NOT is_backward THEN 1 END) OVER (
                            PARTITION BY pid
                            ORDER BY ts_ns, end_ns DESC
                            ROWS UNBOUNDED PRECEDING
                        ) AS number
                    FROM inside
                    WHERE is_backward OR coalesce(until_ns <= ts_ns, TRUE)
                ),
                backwards AS (
                    SELECT pid, any_value(training_tid) AS tid, min(ts_ns) AS ts_ns, max(end_ns) - min(ts_ns) AS dur_ns
                    FROM numbered
                    WHERE is_backward
                    GROUP BY pid, number
                ),
                -- The profiler's steps with what they ran: the last one, where both its time and that are far less than
                -- those of any other, is what was left when profiling ended.
                worked AS (
                    SELECT pid, ts_ns
                    FROM $t_calls
                    UNION ALL
                    SELECT pid, ts_ns
                    FROM $t_spans
                    WHERE kind = 'torch_op'
                ),
                profiled AS (
                    SELECT spans.pid, spans.tid, spans.ts_ns, spans.dur_ns
                    FROM $t_spans AS spans
                    JOIN $t_kinds AS kinds ON kinds.id = spans.name
                    WHERE starts_with(kinds.name, 'ProfilerStep#')
                ),
                counted AS (
                    SELECT profiled.pid, profiled.tid, profiled.ts_ns, count(*) AS calls
                    FROM worked
                    ASOF JOIN profiled ON profiled.pid = worked.pid AND profiled.ts_ns <= worked.ts_ns
                    WHERE worked.ts_ns < profiled.ts_ns + profiled.dur_ns
                    GROUP BY ALL
                ),
                cut AS (
                    SELECT pid, tid, ts_ns
                    FROM (
                        SELECT profiled.*, coalesce(counted.calls, 0) AS calls
                        FROM profiled
                        LEFT JOIN counted USING (pid, tid, ts_ns)
                    )
                    WINDOW
                        others AS (PARTITION BY pid, tid ORDER BY ts_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                        later AS (PARTITION BY pid, tid ORDER BY ts_ns)
                    QUALIFY lead(ts_ns) OVER later IS NULL
                        AND dur_ns < 0.2 * min(dur_ns) OVER others
                        AND calls < 0.2 * min(calls) OVER others
                ),
                -- Collectives of a backend on CPUs run in threads of their own, in which it also waits for other ranks.
                -- The training thread waits for them where it runs no operator and gets no batch meanwhile. With a GPU
                -- it may be that which it waits for. Hooks and functions of autograd may wait, too; before and after them
                -- the backward pass works, for less than 50 us.
                exchanges AS (
                    SELECT spans.pid, spans.ts_ns, spans.ts_ns + spans.dur_ns AS end_ns, kinds.name
                    FROM $t_spans AS spans
                    JOIN $t_kinds AS kinds ON kinds.id = spans.name
                    WHERE kinds.span_kind = 'host collective' AND NOT EXISTS (FROM $t_owned) AND NOT EXISTS (FROM $t_calls)
                ),
                changes AS (
                    SELECT
                        pid,
                        unnest([ts_ns, end_ns]) AS at_ns,
                        unnest([1, -1]) AS exchanges,
                        0 AS operators,
                        0 AS hooks,
                        name
                    FROM exchanges
                    UNION ALL
                    SELECT
                        spans.pid,
                        unnest([spans.ts_ns, spans.ts_ns + spans.dur_ns]),
                        0,
                        unnest(if(runs_hooks, [0, 0], [1, -1])),
                        unnest(if(runs_hooks, [1, -1], [0, 0])),
                        NULL
                    FROM $t_spans AS spans
                    JOIN threads ON threads.pid = spans.pid AND threads.tid = spans.tid
                    JOIN (
                        SELECT *, runs_python(name) AS runs_hooks
                        FROM $t_kinds
                    ) AS kinds ON kinds.id = spans.name
                    WHERE (spans.kind = 'torch_op' OR starts_with(kinds.name, 'enumerate(DataLoader)#'))
                        AND spans.pid IN (SELECT pid FROM exchanges)
                ),
                levels AS (
                    SELECT
                        pid,
                        at_ns,
                        lead(at_ns) OVER in_time AS next_ns,
                        sum(sum(exchanges)) OVER in_time > 0 AND sum(sum(operators)) OVER in_time = 0 AS waits,
                        sum(sum(hooks)) OVER in_time > 0 AS in_hook,
                        max(name) AS name
                    FROM changes
                    GROUP BY pid, at_ns
                    WINDOW in_time AS (PARTITION BY pid ORDER BY at_ns)
                ),
                begun AS (
                    SELECT
                        *,
                        count(CASE WHEN NOT waits THEN 1 END) OVER (
                            PARTITION BY pid
                            ORDER BY at_ns
                            ROWS UNBOUNDED PRECEDING
                        ) AS before,
                        last_value(name IGNORE NULLS) OVER (
                            PARTITION BY pid
                            ORDER BY at_ns
                            ROWS UNBOUNDED PRECEDING
                        ) AS exchange
                    FROM levels
                ),
                waits AS (
                    SELECT
                        begun.pid,
                        any_value(threads.tid) AS tid,
                        min(begun.exchange) AS name,
                        min(begun.at_ns) AS ts_ns,
                        max(begun.next_ns) - min(begun.at_ns) AS dur_ns
                    FROM begun
                    JOIN threads ON threads.pid = begun.pid
                    WHERE begun.waits
                    GROUP BY begun.pid, begun.before
                    HAVING dur_ns >= 50000 OR NOT bool_or(begun.in_hook)
                ),
                -- Of a call of the runtime and those of the driver inside it, the outermost comes first.
                calls AS (
                    SELECT
                        calls.*,
                        CASE
                            WHEN calls.correlation IS NULL THEN 0
                            ELSE row_number() OVER (
                                PARTITION BY calls.pid, calls.correlation
                                ORDER BY calls.ts_ns, calls.dur_ns DESC
                            ) - 1
                        END AS depth
                    FROM $t_calls AS calls
                ),
                caused AS (
                    SELECT
                        owner AS pid,
                        correlation,
                        any_value(kind) AS kind,
                        any_value(name) AS name,
                        any_value(stream) AS stream,
                        any_value(device) AS device,
                        any_value(bytes) AS bytes,
                        any_value(grid_x) AS grid_x,
                        any_value(grid_y) AS grid_y,
                        any_value(grid_z) AS grid_z,
                        any_value(block_x) AS block_x,
                        any_value(block_y) AS block_y,
                        any_value(block_z) AS block_z
                    FROM $t_owned
                    WHERE correlation IS NOT NULL
                    GROUP BY ALL
                ),
                events AS (
                    SELECT
                        calls.pid,
                        calls.tid,
                        kinds.call_kind AS kind,
                        kinds.name,
                        calls.ts_ns,
                        calls.dur_ns,
                        calls.depth,
                        NULL AS role,
                        caused.bytes,
                        caused.device,
                        caused.stream,
                        caused.grid_x,
                        caused.grid_y,
                        caused.grid_z,
                        caused.block_x,
                        caused.block_y,
                        caused.block_z,
                        CASE WHEN kinds.call_kind = 'cuda_launch' THEN caused_names.name END AS kernel,
                        CASE WHEN kinds.call_kind = 'cuda_copy' THEN
                            coalesce($caused_kind, CASE WHEN contains(kinds.name, 'emset') THEN 'memset' END)
                        END AS copy_kind,
                        $caused_memory AS host_memory,
                        CASE WHEN kinds.call_kind = 'cuda_copy'
                            THEN CAST(contains(kinds.name, 'Async') AS BIGINT)
                        END AS async,
                        calls.correlation,
                        NULL AS launch_ns
                    FROM calls
                    JOIN $t_kinds AS kinds ON kinds.id = calls.name
                    LEFT JOIN caused ON caused.pid = calls.pid AND caused.correlation = calls.correlation
                    LEFT JOIN $t_kinds AS caused_names ON caused_names.id = caused.name
                    UNION ALL
                    SELECT
                        owned.owner,
                        NULL,
                        owned.kind,
                        kinds.name,
                        owned.ts_ns,
                        owned.dur_ns,
                        NULL,
                        NULL,
                        owned.bytes,
                        owned.device,
                        owned.stream,
                        owned.grid_x,
                        owned.grid_y,
                        owned.grid_z,
                        owned.block_x,
                        owned.block_y,
                        owned.block_z,
                        NULL,
                        $owned_kind,
                        $owned_memory,
                        NULL,
                        owned.correlation,
                        owned.launch_ns
                    FROM $t_owned AS owned
                    JOIN $t_kinds AS kinds ON kinds.id = owned.name
                    UNION ALL BY NAME
                    SELECT
                        spans.pid,
                        spans.tid,
                        CASE WHEN kinds.span_kind = 'nccl' THEN 'nccl' ELSE spans.kind END AS kind,
                        kinds.name,
                        spans.ts_ns,
                        spans.dur_ns,
                        CASE WHEN kinds.span_kind = 'step' AND cut.ts_ns IS NULL THEN 'step' END AS role
                    FROM $t_spans AS spans
                    JOIN $t_kinds AS kinds ON kinds.id = spans.name
                    LEFT JOIN cut
                        ON cut.pid = spans.pid
                        AND cut.tid = spans.tid
                        AND cut.ts_ns = spans.ts_ns
                        AND kinds.span_kind = 'step'
                    UNION ALL BY NAME
                    SELECT pid, tid, 'backward' AS kind, 'backward' AS name, ts_ns, dur_ns
                    FROM backwards
                    UNION ALL BY NAME
                    SELECT pid, tid, 'dist_wait' AS kind, name, ts_ns, dur_ns
                    FROM waits
                    UNION ALL BY NAME
                    SELECT
                        functions.pid,
                        functions.tid,
                        'py_call' AS kind,
                        kinds.name,
                        functions.ts_ns,
                        functions.dur_ns,
                        CASE
                            WHEN max(functions.ts_ns + functions.dur_ns) OVER (
                                PARTITION BY functions.pid, functions.tid
                                ORDER BY functions.ts_ns, functions.dur_ns DESC
                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                            ) > functions.ts_ns THEN 1
                            ELSE 0
                        END AS depth
                    FROM $t_functions AS functions
                    JOIN $t_kinds AS kinds ON kinds.id = functions.name
                )
            SELECT
                kind,
                name,
                ts_ns + $base AS ts_ns,
                dur_ns,
                pid,
                tid,
                CAST(depth AS BIGINT) AS depth,
                CAST(role AS VARCHAR) AS role,
                bytes,
                device,
                stream,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                kernel,
                copy_kind,
                async,
                host_memory,
                correlation,
                launch_ns + $base AS launch_ns
            FROM events
            ORDER BY kind, ts_ns
            """;
}
