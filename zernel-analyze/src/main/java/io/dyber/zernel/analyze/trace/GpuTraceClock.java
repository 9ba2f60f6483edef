package io.dyber.zernel.analyze.trace;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.List;

/// By how much the clock of a trace differs from that of a recording, measured by the calls that both hold.
///
/// The profiler notes a call of CUDA just after the recorder's probe did. So the differences between a call of the trace
/// and all calls of that name about that time in the recording are scattered, but for one that is found again and
/// again. The rarest calls are taken, which are the least likely to be confused, and one that may be any of many
/// counts little: launches in a loop are as far apart in the next difference as in the right one.
///
/// @param shiftNanos to add to the trace's times
/// @param errorNanos how far off they may be then
/// @param matched calls of the trace that were found in the recording; 0 when the time of day is all there is to go by
record GpuTraceClock(long shiftNanos, long errorNanos, long matched) {
    /// Nanoseconds: calls are noted within some microseconds of each other, on a busy or slow machine within some ten.
    private static final List<Long> BINS = List.of(2_000L, 16_000L);

    /// From names of the runtime and the driver to what both do, in this order.
    private static final List<List<String>> RENAMES = List.of(
            List.of("(_v[0-9]+)?(_pt[sd][sz])?$", ""),
            List.of("^_*cu(da)?([A-Z])", "\\2"),
            List.of("^LaunchKernelExC$", "LaunchKernelEx"),
            List.of("^Memcpy(Unaligned|HtoD|DtoH|DtoD)", "Memcpy"),
            List.of("^MemsetD(8|16|32)", "Memset"),
            List.of("^Mem(Alloc|Free)", "\\1"),
            List.of("^Malloc", "Alloc"),
            List.of("^CtxSynchronize$", "DeviceSynchronize"));

    private static final String SQL =
            """
            WITH
                thresholds AS (
                    SELECT
                        CAST(? AS BIGINT) AS window_ns, -- [ns] by how much the clocks may differ
                        500 AS most_calls, -- of the trace that are looked for
                        CAST(? AS BIGINT) AS bin_ns, -- [ns] differences within two such bins are the same
                        10 AS min_votes, -- calls with the same difference
                        0.3 AS min_share, -- of those that were looked for
                        2 AS min_contrast, -- in weight over any other difference
                        50000 AS most_error_ns -- [ns] a call that is further off is another one
                ),
                frequencies AS (
                    SELECT name, count(*) AS calls
                    FROM traced_calls
                    WHERE name IN (SELECT name FROM recorded_calls)
                    GROUP BY name
                ),
                ranked AS (
                    SELECT
                        traced.name,
                        traced.ts_ns,
                        row_number() OVER (ORDER BY frequencies.calls, hash(traced.ts_ns), traced.ts_ns) AS place
                    FROM traced_calls AS traced
                    JOIN frequencies ON frequencies.name = traced.name
                ),
                sampled AS (
                    SELECT ranked.name, ranked.ts_ns
                    FROM ranked
                    CROSS JOIN thresholds
                    WHERE ranked.place <= thresholds.most_calls
                ),
                near AS (
                    SELECT name, ts_ns, unnest(range(ts_ns // window_ns - 1, ts_ns // window_ns + 2)) AS stretch
                    FROM sampled
                    CROSS JOIN thresholds
                ),
                placed AS (
                    SELECT name, ts_ns, ts_ns // window_ns AS stretch
                    FROM recorded_calls
                    CROSS JOIN thresholds
                ),
                differences AS (
                    SELECT
                        near.name,
                        near.ts_ns AS traced_ns,
                        placed.ts_ns - near.ts_ns AS shift_ns,
                        CAST(floor((placed.ts_ns - near.ts_ns) / thresholds.bin_ns) AS BIGINT) AS bin,
                        1.0 / pow(count(*) OVER (PARTITION BY near.name, near.ts_ns), 2) AS weight
                    FROM placed
                    JOIN near ON near.name = placed.name AND near.stretch = placed.stretch
                    CROSS JOIN thresholds
                    WHERE abs(placed.ts_ns - near.ts_ns) <= thresholds.window_ns
                ),
                bins AS (
                    SELECT bin, count(*) AS votes, sum(weight) AS weight
                    FROM differences
                    GROUP BY bin
                ),
                peaks AS (
                    SELECT
                        bins.bin,
                        bins.votes + coalesce(next.votes, 0) AS votes,
                        bins.weight + coalesce(next.weight, 0) AS weight
                    FROM bins
                    LEFT JOIN bins AS next ON next.bin = bins.bin + 1
                ),
                best AS (
                    SELECT bin, votes, weight
                    FROM peaks
                    ORDER BY weight DESC, abs(bin), bin
                    LIMIT 1
                ),
                others AS (
                    SELECT coalesce(max(peaks.weight), 0) AS weight
                    FROM peaks
                    CROSS JOIN best
                    WHERE abs(peaks.bin - best.bin) > 10
                ),
                middles AS (
                    SELECT median(differences.shift_ns) AS shift_ns
                    FROM differences
                    CROSS JOIN best
                    WHERE differences.bin BETWEEN best.bin AND best.bin + 1
                ),
                nearest AS (
                    SELECT arg_min(differences.shift_ns, abs(differences.shift_ns - middles.shift_ns)) AS shift_ns
                    FROM differences
                    CROSS JOIN middles
                    GROUP BY differences.name, differences.traced_ns
                ),
                kept AS (
                    SELECT nearest.shift_ns, median(nearest.shift_ns) OVER () AS middle_ns
                    FROM nearest
                    CROSS JOIN middles
                    CROSS JOIN thresholds
                    WHERE abs(nearest.shift_ns - middles.shift_ns) <= thresholds.most_error_ns
                )
            SELECT
                CAST(round(any_value(kept.middle_ns)) AS BIGINT) AS shift_ns,
                CAST(ceil(quantile_cont(abs(kept.shift_ns - kept.middle_ns), 0.95)) AS BIGINT) AS error_ns,
                count(*) AS matched,
                any_value(best.votes >= thresholds.min_votes
                    AND best.votes >= thresholds.min_share * (SELECT count(*) FROM sampled)
                    AND best.weight >= thresholds.min_contrast * others.weight) AS is_sure
            FROM kept
            CROSS JOIN best
            CROSS JOIN others
            CROSS JOIN thresholds
            """;

    /// What a call does, as SQL: a profiler notes the call of the runtime, and the recording may have the driver's that is
    /// made inside it, a microsecond later. `cudaMemcpyAsync` and `cuMemcpyHtoDAsync_v2` are both `MemcpyAsync`.
    ///
    /// @param name column with the name of the call
    static String operation(String name) {
        String operation = name;
        for (List<String> rule : RENAMES) {
            operation = "regexp_replace(" + operation + ", '" + rule.getFirst() + "', '" + rule.getLast() + "')";
        }
        return operation;
    }

    /// Compares the tables `recorded_calls` and `traced_calls`, both with `name` and `ts_ns`.
    ///
    /// @param windowNanos by how much the clocks differ at most, by what else is known of them
    /// @param probeNanos what a probe may delay the profiler's own note of a call
    static GpuTraceClock measure(long windowNanos, long probeNanos, DuckDb duckDb) {
        for (long bin : BINS) {
            Table.Row found = duckDb.query(SQL, windowNanos, bin).only();
            if (found.flag("is_sure")) {
                return new GpuTraceClock(
                        found.integer("shift_ns"), found.integer("error_ns") + probeNanos, found.integer("matched"));
            }
        }
        return new GpuTraceClock(0, windowNanos, 0);
    }
}
