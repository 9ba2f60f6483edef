package io.dyber.zernel.analyze;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.NullMarked;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A training of `src/test/workloads/real`, as its `jobs.json` describes it.
///
/// @param planted what makes it slow, or what it is where nothing does
/// @param findings any of these names the cause
/// @param lines lines of the job's code that hold the cause, `training.py:37`: those marked `# planted:` so; empty where no line does
/// @param costs whether the cause costs time of its steps
/// @param advice what a run with the advice applied does, where that is mechanical
/// @param quick whether the usual build runs it too
@NullMarked
record RealJob(
        String name,
        String planted,
        boolean healthy,
        List<String> findings,
        List<String> lines,
        boolean costs,
        Optional<Advice> advice,
        boolean quick) {

    static final Path FOLDER = Path.of("src/test/workloads/real");

    /// @param applied what the run does
    /// @param says what the finding's advice must contain to be taken for that
    record Advice(String applied, String says) {}

    static List<RealJob> all() {
        try {
            List<RealJob> jobs = new ArrayList<>();
            for (JsonNode job : JsonMapper.shared().readTree(Files.readString(FOLDER.resolve("jobs.json"))).get("jobs")) {
                jobs.add(of(job));
            }
            return List.copyOf(jobs);
        } catch (IOException e) {
            throw new IllegalStateException("reading '" + FOLDER + "/jobs.json'", e);
        }
    }

    private static RealJob of(JsonNode job) {
        JsonNode advice = job.path("advice");
        return new RealJob(
                job.get("name").asString(),
                job.get("planted").asString(),
                job.get("healthy").asBoolean(),
                job.get("findings").valueStream().map(JsonNode::asString).toList(),
                job.has("line") ? marked(job.get("line").asString()) : List.of(),
                job.path("costs").asBoolean(true),
                advice.isObject()
                        ? Optional.of(new Advice(advice.get("applied").asString(), advice.get("says").asString()))
                        : Optional.empty(),
                job.path("quick").asBoolean(false));
    }

    private static List<String> marked(String label) {
        List<String> lines = new ArrayList<>();
        try (DirectoryStream<Path> sources = Files.newDirectoryStream(FOLDER, "*.py")) {
            for (Path source : sources) {
                List<String> text = Files.readAllLines(source);
                for (int i = 0; i < text.size(); i++) {
                    if (text.get(i).endsWith("  # planted: " + label)) {
                        lines.add(source.getFileName() + ":" + (i + 1));
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("reading '" + FOLDER + "'", e);
        }
        if (lines.isEmpty()) {
            throw new IllegalStateException("no line of '" + FOLDER + "' is marked '# planted: " + label + "'");
        }
        return lines;
    }

    @Override
    public String toString() {
        return name;
    }
}
