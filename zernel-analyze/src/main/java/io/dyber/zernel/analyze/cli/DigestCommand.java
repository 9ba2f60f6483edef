package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.export.OutputFile;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "digest",
        mixinStandardHelpOptions = true,
        abbreviateSynopsis = true,
        description = {
            "Writes of each recording a small file that stands for it in reports of many nodes.",
            "It holds steps, phases, collectives, GPUs and findings, and no events."
        },
        footer = {
            "",
            "A digest of run.parquet is run.digest.parquet. The files of a rotating recording have one.",
            "",
            "Examples:",
            "  zernel-analyze digest run.parquet -o digests",
            "  zernel-analyze digest /data/*.parquet -o digests",
            "  zernel-analyze digest --follow run.parquet -o /shared/digests",
            "  zernel-analyze digest --follow /var/rec --push http://head:9091",
            "",
            "Then: zernel-analyze report digests"
        })
final class DigestCommand implements Runnable {
    private static final List<Table.Column> COLUMNS = List.of(
            new Table.Column("recording", "VARCHAR"),
            new Table.Column("digest", "VARCHAR"),
            new Table.Column("events", "BIGINT"),
            new Table.Column("bytes", "BIGINT"));

    @Mixin
    Job job = new Job();

    @Option(names = {"-o", "--output"}, paramLabel = "DIR", description = "The folder to write to, which is made (default: that of the recording).")
    Path output = Path.of("");

    @Option(names = {"-f", "--force"}, description = "Overwrite digests that are there.")
    boolean force;

    @Mixin
    FollowOptions follow = new FollowOptions();

    @Mixin
    TableOutput printed = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        if (job.files.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "missing FILE");
        }
        if (follow.isAsked()) {
            follow.run(job, output);
            return;
        }
        Map<Path, List<String>> digests = digests();
        Map<String, Integer> positions = new LinkedHashMap<>();
        COLUMNS.forEach(column -> positions.put(column.name(), positions.size()));
        List<Table.Row> rows = new ArrayList<>();
        try (ProgressLine progress = job.progress()) {
            digests.forEach((digest, files) -> {
                progress.at("digesting " + files.getFirst(), (double) rows.size() / digests.size());
                rows.add(new Table.Row(positions, digest(files, digest)));
            });
        }
        tell(new Table(COLUMNS, rows));
    }

    /// The recordings by where their digests go.
    private Map<Path, List<String>> digests() {
        Map<Path, List<String>> digests = new LinkedHashMap<>();
        for (List<String> files : Recordings.series(job.files)) {
            Path digest = folder(files.getFirst()).resolve(name(files.getFirst()));
            List<String> other = digests.putIfAbsent(digest, files);
            if (other != null) {
                throw new RecordingException(
                        "digesting '" + files.getFirst() + "': '" + digest + "' is to be that of '" + other.getFirst() + "'",
                        "recordings of one name need folders of their own: another -o");
            }
        }
        return digests;
    }

    private List<@Nullable Object> digest(List<String> files, Path digest) {
        try (OutputFile file = new OutputFile(digest.toString(), force);
                Database database = job.input.open(files)) {
            Digest.write(database, file.path());
            long bytes = file.size();
            file.commit();
            return Arrays.asList(files.getFirst(), digest.toString(), database.rows(), bytes);
        } catch (IOException e) {
            throw new RecordingException("writing '" + digest + "': " + e.getMessage(), null, e);
        }
    }

    private void tell(Table written) {
        PrintWriter err = spec.commandLine().getErr();
        if (printed.form.json || printed.form.csv) {
            printed.print(written, spec.commandLine().getOut(), false);
        } else if (written.rows().size() == 1) {
            Table.Row row = written.only();
            err.println(String.format(
                    Locale.ROOT, "wrote %s: %,d bytes of %,d events", row.text("digest"), row.integer("bytes"), row.integer("events")));
        } else {
            err.println(String.format(Locale.ROOT, "wrote %,d digests", written.rows().size()));
        }
    }

    private Path folder(String recording) {
        if (output.toString().isEmpty()) {
            return Path.of(recording).resolveSibling("");
        }
        try {
            return Files.createDirectories(output);
        } catch (IOException e) {
            throw new RecordingException("writing to '" + output + "': " + e, "-o takes a folder", e);
        }
    }

    private static String name(String recording) {
        return String.valueOf(Path.of(recording).getFileName()).replaceAll("(\\.parquet)?(\\.live)?$", "") + Digest.SUFFIX;
    }
}
