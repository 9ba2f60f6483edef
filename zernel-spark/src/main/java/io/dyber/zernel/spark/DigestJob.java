package io.dyber.zernel.spark;

import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.cli.Failures;
import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.SerializableConfiguration;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// An application of Spark that does for recordings anywhere what `zernel-analyze digest` does for those of one machine.
@Command(
        name = "DigestJob",
        mixinStandardHelpOptions = true,
        description = "Writes of each recording a digest, one task of Spark for each. A recording that fails is named, and stops no other.")
public final class DigestJob implements Callable<Integer> {
    @Parameters(paramLabel = "RECORDINGS", arity = "1..*", description = "Finished recordings: files, folders and globs that Spark's file systems know.")
    List<String> recordings = List.of();

    @Option(names = {"-o", "--output"}, paramLabel = "DIGESTS", required = true, description = "The folder to write to, which is made.")
    String output = "";

    @Option(names = {"-f", "--force"}, description = "Replace digests that are there.")
    boolean force;

    @Option(names = "--memory", paramLabel = "SIZE", description = "Memory of DuckDB for each task, beside the executor's heap (default: ${DEFAULT-VALUE}).")
    String memory = "1600MB";

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Runs in the driver, which spark-submit starts.
    public static void main(String[] arguments) {
        int status = run(new PrintWriter(System.err, true), arguments);
        if (status != 0) {
            System.exit(status);
        }
    }

    static int run(PrintWriter err, String... arguments) {
        return Failures.install(new CommandLine(new DigestJob()).setErr(err)).execute(arguments);
    }

    @Override
    public Integer call() throws IOException {
        try (SparkSession spark = SparkSession.builder().appName("Zernel digests").getOrCreate()) {
            return tell(digest(spark));
        }
    }

    private List<DigestTask.Outcome> digest(SparkSession spark) {
        JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
        Configuration configuration = context.hadoopConfiguration();
        List<String> files = StoredFiles.of(recordings, name -> name.endsWith(".parquet") && !name.endsWith(Digest.SUFFIX), configuration);
        Broadcast<SerializableConfiguration> shared = context.broadcast(new SerializableConfiguration(configuration));
        List<String> series = context.parallelize(files, files.size()).map(file -> seriesOf(file, shared.value().value())).collect();
        int threads = spark.sparkContext().getConf().getInt("spark.task.cpus", 1);
        List<DigestTask> tasks = tasks(files, series, threads);
        return context.parallelize(tasks, tasks.size()).map(task -> task.run(shared.value().value())).collect();
    }

    /// What the files of one rotating recording have in common; of one that cannot be read, its task says why.
    private static String seriesOf(String file, Configuration configuration) {
        try {
            String about = StoredFiles.footer(file, configuration).getOrDefault(Footer.RECORDING, "{}");
            Footer.Series series = Footer.parse(Map.of(Footer.RECORDING, about)).recording().series();
            return series == null ? file : series.id();
        } catch (IOException | RecordingException _) {
            return file;
        }
    }

    private List<DigestTask> tasks(List<String> files, List<String> series, int threads) {
        Map<String, List<String>> recorded = new LinkedHashMap<>();
        for (int i = 0; i < files.size(); i++) {
            recorded.computeIfAbsent(series.get(i), _ -> new ArrayList<>()).add(files.get(i));
        }
        Map<String, DigestTask> tasks = new LinkedHashMap<>();
        for (List<String> parts : recorded.values()) {
            String name = new Path(parts.getFirst()).getName().replaceAll("\\.parquet$", "") + Digest.SUFFIX;
            String digest = new Path(output, name).toString();
            DigestTask other = tasks.putIfAbsent(digest, new DigestTask(parts, digest, force, threads, memory));
            if (other != null) {
                throw new RecordingException(
                        "digesting '" + parts.getFirst() + "': '" + digest + "' is to be that of '" + other.files().getFirst() + "'",
                        "recordings of one name need folders of their own: another -o");
            }
        }
        return List.copyOf(tasks.values());
    }

    private int tell(List<DigestTask.Outcome> outcomes) {
        PrintWriter err = spec.commandLine().getErr();
        int failed = 0;
        long events = 0;
        long bytes = 0;
        for (DigestTask.Outcome outcome : outcomes) {
            if (outcome.failure() != null) {
                failed++;
                err.println("DigestJob: " + outcome.failure());
            }
            events += outcome.events();
            bytes += outcome.bytes();
        }
        err.println(String.format(
                Locale.ROOT, "wrote %,d digests: %,d bytes of %,d events; %,d failed", outcomes.size() - failed, bytes, events, failed));
        return failed == outcomes.size() ? 1 : 0;
    }
}
