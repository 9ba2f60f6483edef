package io.dyber.zernel.analyze;

import java.io.IOException;
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
/// @param costs whether the cause costs time of its steps
/// @param advice what a run with the advice applied does, where that is mechanical
/// @param quick whether the usual build runs it too
@NullMarked
record RealJob(
        String name,
        String planted,
        boolean healthy,
        List<String> findings,
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
                job.path("costs").asBoolean(true),
                advice.isObject()
                        ? Optional.of(new Advice(advice.get("applied").asString(), advice.get("says").asString()))
                        : Optional.empty(),
                job.path("quick").asBoolean(false));
    }

    @Override
    public String toString() {
        return name;
    }
}
