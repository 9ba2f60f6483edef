package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Table;
import io.dyber.zernel.analyze.export.Selection;
import io.dyber.zernel.analyze.report.Page;
import io.dyber.zernel.analyze.report.TimelineText;
import java.io.PrintWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "timeline",
        mixinStandardHelpOptions = true,
        description = "Which phase each training thread was in over time, and how busy the GPUs were.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze timeline run.parquet",
            "  zernel-analyze timeline --from 10 --to 12 'rank*.parquet'"
        })
final class TimelineCommand implements Runnable {
    /// Parameters: begin and end of the timeline and the length of a bucket, in ns. A bucket belongs to the phase with the most time in it.
    private static final String SQL =
            """
            WITH
                bounds AS (SELECT CAST(? AS BIGINT) AS from_ns, CAST(? AS BIGINT) AS to_ns, CAST(? AS BIGINT) AS bucket_ns),
                cut AS (
                    SELECT recording, pid, tid, phase, from_ns, bucket_ns,
                        greatest(start_ns, from_ns) AS start_ns, least(end_ns, to_ns) AS end_ns
                    FROM phase_spans CROSS JOIN bounds
                    WHERE start_ns < to_ns AND end_ns > from_ns
                ),
                pieces AS (
                    SELECT recording, pid, tid, phase, from_ns, bucket_ns, start_ns, end_ns,
                        unnest(range((start_ns - from_ns) // bucket_ns, (end_ns - 1 - from_ns) // bucket_ns + 1)) AS bucket
                    FROM cut
                ),
                sums AS (
                    SELECT recording, pid, tid, bucket, from_ns + bucket * bucket_ns AS bucket_start_ns, phase,
                        CAST(sum(least(end_ns, from_ns + (bucket + 1) * bucket_ns)
                            - greatest(start_ns, from_ns + bucket * bucket_ns)) AS BIGINT) AS ns
                    FROM pieces
                    GROUP BY ALL
                ),
                ended AS (
                    SELECT recording, pid, tid, (end_ns - 1 - from_ns) // bucket_ns AS bucket, count(*) AS steps
                    FROM steps CROSS JOIN bounds
                    WHERE end_ns > from_ns AND end_ns <= to_ns
                    GROUP BY ALL
                ),
                threads AS (
                    SELECT recording, pid, tid, bucket, bucket_start_ns, arg_max(phase, ns) AS phase,
                        coalesce(sum(ns) FILTER (WHERE phase = 'DataLoading'), 0) AS data_loading_ns,
                        coalesce(sum(ns) FILTER (WHERE phase = 'GpuCompute'), 0) AS gpu_compute_ns,
                        coalesce(sum(ns) FILTER (WHERE phase = 'NcclCollective'), 0) AS nccl_collective_ns,
                        coalesce(sum(ns) FILTER (WHERE phase = 'OptimizerStep'), 0) AS optimizer_step_ns,
                        coalesce(sum(ns) FILTER (WHERE phase = 'Unknown'), 0) AS unknown_ns
                    FROM sums
                    GROUP BY ALL
                ),
                gpus AS (
                    SELECT recording, device, (ts_ns - from_ns) // bucket_ns AS bucket, avg(value) AS gpu_percent
                    FROM _rare_events CROSS JOIN bounds
                    WHERE kind = 'gpu_sample' AND name = 'utilization' AND ts_ns >= from_ns AND ts_ns < to_ns
                    GROUP BY ALL
                )
            SELECT recording, pid, tid, CAST(NULL AS BIGINT) AS device, bucket, bucket_start_ns AS start_ns, phase,
                CAST(data_loading_ns AS BIGINT) AS data_loading_ns, CAST(gpu_compute_ns AS BIGINT) AS gpu_compute_ns,
                CAST(nccl_collective_ns AS BIGINT) AS nccl_collective_ns,
                CAST(optimizer_step_ns AS BIGINT) AS optimizer_step_ns, CAST(unknown_ns AS BIGINT) AS unknown_ns,
                coalesce(steps, 0) AS steps, CAST(NULL AS DOUBLE) AS gpu_percent
            FROM threads LEFT JOIN ended USING (recording, pid, tid, bucket)
            UNION ALL
            SELECT recording, NULL, NULL, device, bucket, from_ns + bucket * bucket_ns, NULL, NULL, NULL, NULL, NULL, NULL,
                NULL, gpu_percent
            FROM gpus CROSS JOIN bounds
            ORDER BY recording, pid NULLS LAST, tid, device, bucket
            """;

    @Option(names = "--from", paramLabel = "S", description = "Begin so many seconds after the start of the recording.")
    @Nullable Double from;

    @Option(names = "--to", paramLabel = "S", description = "End so many seconds after the start of the recording.")
    @Nullable Double to;

    @Mixin
    Job job = new Job();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        if (from != null && to != null && from >= to) {
            throw new ParameterException(spec.commandLine(), "--from must be less than --to");
        }
        PrintWriter out = spec.commandLine().getOut();
        Page page = output.screen.page(out);
        Timeline timeline = query(TimelineText.cells(page));
        if (output.form.json || output.form.csv) {
            output.print(timeline.buckets(), out, false);
        } else {
            new TimelineText(page, timeline.beginNanos(), timeline.bucketNanos()).write(timeline.buckets(), timeline.ranks());
            out.flush();
        }
    }

    private record Timeline(long beginNanos, long bucketNanos, Table buckets, Table ranks) {}

    private Timeline query(int cells) {
        try (Waiting waiting = job.waiting();
                Database database = job.open()) {
            database.requireEvents();
            waiting.at("querying", 0);
            Selection span = span(database);
            long bucket = Math.max(1, Math.ceilDiv(span.to() - span.from(), cells));
            return new Timeline(
                    span.from() - span.zero(),
                    bucket,
                    database.query(SQL, span.from(), span.to(), bucket),
                    database.query("SELECT recording, pid, rank FROM processes WHERE rank IS NOT NULL"));
        }
    }

    /// The given bounds, else from the first call of a training thread or GPU sample to the last.
    private Selection span(Database database) {
        Selection span = Selection.of(database, List.of(), List.of(), from, to);
        Table.Row training = database.query("SELECT min(first_ns) AS first_ns, max(last_ns) AS last_ns FROM training_threads")
                .only();
        return training.isNull("first_ns")
                ? span
                : new Selection(
                        List.of(),
                        List.of(),
                        from == null ? training.integer("first_ns") : span.from(),
                        to == null ? training.integer("last_ns") : span.to(),
                        span.zero(),
                        span.shifts());
    }
}
