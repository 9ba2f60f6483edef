package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "digest",
        mixinStandardHelpOptions = true,
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
            "",
            "Then: zernel-analyze report digests"
        })
final class DigestCommand implements Runnable {
    @Mixin
    Job job = new Job();

    @Option(names = {"-o", "--output"}, paramLabel = "DIR", description = "The folder to write to, which is made (default: that of the recording).")
    Path output = Path.of("");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        if (job.files.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "missing FILE");
        }
        PrintWriter err = spec.commandLine().getErr();
        List<List<String>> recordings = Recordings.series(job.files);
        try (ProgressLine progress = job.progress()) {
            for (int i = 0; i < recordings.size(); i++) {
                List<String> files = recordings.get(i);
                progress.at("digesting " + files.getFirst(), (double) i / recordings.size());
                Path file = folder(files.getFirst()).resolve(name(files.getFirst()));
                long bytes;
                long events;
                try (Database database = job.input.open(files)) {
                    bytes = Digest.write(database, file);
                    events = database.rows();
                }
                if (recordings.size() == 1) {
                    err.println(String.format(Locale.ROOT, "wrote %s: %,d bytes of %,d events", file, bytes, events));
                }
            }
        }
        if (recordings.size() > 1) {
            err.println(String.format(Locale.ROOT, "wrote %,d digests", recordings.size()));
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
