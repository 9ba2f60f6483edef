package io.dyber.zernel.spark;

import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.cli.Failures;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Digests;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.TextTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// An application of Spark that computes what digests say together, by the views of the library that Spark can run.
@Command(
        name = "FleetJob",
        mixinStandardHelpOptions = true,
        description = "Computes over digests who came last to each collective, the pace of each rank and machine, outliers and findings.")
public final class FleetJob implements Callable<Integer> {
    private static final int MOST_UNREAD = 10;
    private static final int MOST_ROWS = 10;
    private static final int WIDTH = 160;

    /// How the first rows of each view are chosen; the others are in order.
    private static final Map<String, String> SHOWN = shown();

    private static Map<String, String> shown() {
        Map<String, String> shown = new LinkedHashMap<>();
        shown.put("finding_counts", "");
        shown.put("host_paces", "");
        shown.put("rank_paces", " ORDER BY lag_ns DESC NULLS LAST, recording, pid");
        shown.put("rank_outliers", "");
        shown.put("collective_arrivals", " ORDER BY skew_ns DESC NULLS LAST, comm_id, number");
        return shown;
    }

    @Parameters(paramLabel = "DIGESTS", arity = "1..*", description = "Digests: files, folders and globs that Spark's file systems know.")
    List<String> digests = List.of();

    @Option(names = {"-o", "--output"}, paramLabel = "DIR", description = "Write each view to a folder in this one, replacing what is there.")
    @Nullable String output;

    @Option(names = "--format", paramLabel = "FORMAT", description = "Of what is written: parquet or json (default: ${DEFAULT-VALUE}).")
    String format = "parquet";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Runs in the driver, which spark-submit starts.
    public static void main(String[] arguments) {
        int status = run(new PrintWriter(System.out, true), arguments);
        if (status != 0) {
            System.exit(status);
        }
    }

    static int run(PrintWriter out, String... arguments) {
        return Failures.install(new CommandLine(new FleetJob()).setOut(out)).execute(arguments);
    }

    @Override
    public Integer call() throws IOException {
        try (SparkSession spark = SparkSession.builder().appName("Zernel fleet").getOrCreate()) {
            List<String> files = StoredFiles.of(
                    digests, name -> name.endsWith(Digest.SUFFIX), spark.sparkContext().hadoopConfiguration());
            try (DigestTables tables = DigestTables.open(files, spark)) {
                write(spark, tables);
            }
        }
        return 0;
    }

    private void write(SparkSession spark, DigestTables tables) {
        Page page = new Page(spec.commandLine().getOut(), WIDTH, false, true);
        page.line(String.format(Locale.ROOT, "%,d digests", tables.size()));
        List<Digests.Unread> unread = tables.unread();
        unread.stream().limit(MOST_UNREAD).forEach(file -> page.line("  left out: " + file.path() + " (" + file.state() + ": " + file.why() + ")"));
        if (unread.size() > MOST_UNREAD) {
            page.line("  left out: " + (unread.size() - MOST_UNREAD) + " more");
        }
        long withoutNccl = tables.of("_dist_waiting").count();
        if (withoutNccl > 0) {
            page.line(String.format(
                    Locale.ROOT, "  not compared: %,d processes without NCCL; zernel-analyze report says how late they come", withoutNccl));
        }
        Reduction reduction = new Reduction(spark, tables);
        SHOWN.forEach((view, order) -> {
            Dataset<Row> rows = reduction.of(view);
            if (output != null) {
                // Whole views of a fleet are small, but for collectives.
                Dataset<Row> stored = view.equals("collective_arrivals") ? rows : rows.coalesce(1);
                stored.write().mode(SaveMode.Overwrite).format(format).save(new Path(output, view).toString());
            }
            page.blank();
            page.heading(view + (order.isEmpty() ? "" : order.replaceFirst(",.*", "").replace(" NULLS LAST", "")));
            new TextTable(page, true).write(table(spark.sql("SELECT * FROM " + view + order + " LIMIT " + MOST_ROWS)));
        });
        page.out().flush();
    }

    static Table table(Dataset<Row> rows) {
        List<Table.Column> columns = new ArrayList<>();
        Map<String, Integer> positions = new LinkedHashMap<>();
        for (StructField field : rows.schema().fields()) {
            positions.put(field.name(), positions.size());
            columns.add(new Table.Column(field.name(), type(field)));
        }
        List<Table.Row> all = new ArrayList<>();
        for (Row row : rows.collectAsList()) {
            List<@Nullable Object> values = new ArrayList<>();
            for (int i = 0; i < row.length(); i++) {
                values.add(value(row.get(i)));
            }
            all.add(new Table.Row(positions, values));
        }
        return new Table(columns, all);
    }

    private static String type(StructField field) {
        return field.dataType().equals(DataTypes.StringType)
                ? "VARCHAR"
                : field.dataType().equals(DataTypes.BooleanType) ? "BOOLEAN" : field.dataType().equals(DataTypes.LongType) ? "BIGINT" : "DOUBLE";
    }

    private static @Nullable Object value(@Nullable Object value) {
        return switch (value) {
            case Integer number -> number.longValue();
            case BigDecimal number -> number.doubleValue();
            case null, default -> value;
        };
    }
}
